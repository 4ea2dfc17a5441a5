#!/usr/bin/env bash
# Flame graphs of the engine, as docs/benchmarks.md shows them. Needs perf (Debian: linux-perf) and
# python3; builds the engine with frame pointers, and inferno, in target/flame.
# usage: benches/flame.sh [path|mesh]...
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tools=target/flame
pictures=docs/images
command -v perf >/dev/null || { echo "perf was not found (Debian: apt install linux-perf)"; exit 1; }
[ -x $tools/bin/inferno-flamegraph ] ||
  cargo install -q --root $tools --target-dir $tools/build --locked --version 0.12.8 inferno
RUSTFLAGS="-C force-frame-pointers=yes" \
  cargo build -q --locked --release --target-dir $tools/engine -p burstlab-bench

draw() { # NAME FLOWS DURATION TITLE: of benches/compare/NAME.toml; no flows: its own
  local name=$1 flows=$2 duration=$3 title=$4 scenario=$tools/$1.json
  python3 benches/scenario.py "$name.toml" "$flows" >"$scenario"
  perf record -q -F 4000 -e cpu-clock --call-graph fp -o $tools/perf.data -- \
    $tools/engine/release/engine "$scenario" "$duration"
  perf script -i $tools/perf.data --no-inline 2>/dev/null |
    $tools/bin/inferno-collapse-perf |
    # What is below the run says nothing; short names fit into the boxes.
    sed -E 's/^.*Simulation::run;//; s/<impl [^>]*>:://g; s/burstlab_//g; s/sim::world:://g' \
      >$tools/"$name".folded
  $tools/bin/inferno-flamegraph --title "$title" --width 1200 --minwidth 0.2 --deterministic \
    <$tools/"$name".folded >$pictures/flame-"$name".svg
  echo "$pictures/flame-$name.svg"
  # What the page quotes: samples by the function that was running.
  sed 's/.*;//' $tools/"$name".folded |
    awk '{ n = $NF; $NF = ""; sum[$0] += n; all += n }
      END { for (f in sum) printf "%5.1f %%  %s\n", 100 * sum[f] / all, f }' | sort -rn | head -25
}

[ $# -gt 0 ] || set -- path mesh
for name in "$@"; do
  case $name in
    path) draw path 0 "20000 s" "One SACK flow over the path, no loss" ;;
    mesh) draw mesh 800 "5 s" "800 SACK flows over NSFNET" ;;
    *) echo "usage: $0 [path|mesh]..."; exit 2 ;;
  esac
done
