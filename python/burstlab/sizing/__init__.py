"""How large something has to be: the least value of a field at which a goal is met.

`size` bisects over the values, replicates at each until its interval lies on one side of the limit,
and names the bottleneck below.
"""

from burstlab.sizing.bisecting import Sizing as Sizing
from burstlab.sizing.bisecting import Tried as Tried
from burstlab.sizing.bisecting import size as size
