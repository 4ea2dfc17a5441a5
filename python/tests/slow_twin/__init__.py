"""A slow twin of the mesh, written from `docs/models/mesh.md` and `scheduling.md` alone.

Plain loops over lists that never forget anything; nothing is shared with the engine. It is fed with
the bursts that an engine run made, decides each one's fate itself, and has to agree.
"""
