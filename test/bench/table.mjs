/** Rows of what `compare` measured and {what, than, limit}, times in ms, as aligned columns. */
export function table(rows) {
  const lines = [
    ['WHAT', 'KVUP', 'COMPARED WITH', 'ITS TIME', 'RATIO', 'OF CPU TIME', 'LIMIT', ''],
    ...rows.map(({ what, kvup, than, peer, ratio, cpuRatio, limit }) => [
      what,
      `${kvup.toFixed(0)} ms`,
      than,
      `${peer.toFixed(0)} ms`,
      ratio.toFixed(2),
      cpuRatio.toFixed(2),
      limit.toFixed(1),
      ratio > limit ? 'over' : 'ok',
    ]),
  ]
  const widths = lines[0].map((_, i) => Math.max(...lines.map((line) => line[i].length)))
  return lines
    .map((line) =>
      line
        .map((cell, i) => cell.padEnd(widths[i]))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
