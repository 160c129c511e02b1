/** Rows of what `compare` or `weigh` measured and {what, than, limit}, in ms unless they name a unit, as aligned columns. */
export function table(rows) {
  const lines = [
    ['WHAT', 'KVUP', 'COMPARED WITH', 'ITS', 'RATIO', 'OF CPU TIME', 'LIMIT', ''],
    ...rows.map(({ what, kvup, than, peer, ratio, cpuRatio, limit, unit = 'ms' }) => [
      what,
      `${kvup.toFixed(0)} ${unit}`,
      than,
      `${peer.toFixed(0)} ${unit}`,
      ratio.toFixed(2),
      cpuRatio?.toFixed(2) ?? '',
      limit.toFixed(2),
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
