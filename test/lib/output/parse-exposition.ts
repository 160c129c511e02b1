/** A family of Prometheus' text format, as it was read. */
export interface Family {
  name: string
  type: string
  help?: string
  samples: { labels: Record<string, string>; value: number }[]
}

const metricName = /^[a-zA-Z_:][\w:]*$/u
const label = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/uy

/**
 * Reads text format 0.0.4 as strictly as its specification: a family stands once and together, behind its TYPE; a series stands once; every line ends. Throws
 * where it does not hold.
 */
export function parseExposition(text: string): Family[] {
  if (text !== '' && !text.endsWith('\n')) throw new Error('the last line has no end')
  const families: Family[] = []
  let help: { name: string; text: string } | undefined
  for (const line of text.split('\n').slice(0, -1)) {
    const [, word, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/u.exec(line) ?? []
    if (word === 'HELP') help = { name, text: unescaped(rest, false) }
    else if (word === 'TYPE') families.push(begun(families, name, rest, help))
    else sampleOf(line, families.at(-1))
  }
  return families
}

function begun(
  families: readonly Family[],
  name: string,
  type: string,
  help: { name: string; text: string } | undefined,
): Family {
  if (!metricName.test(name)) throw new Error(`${name} is no name`)
  if (!['gauge', 'counter', 'untyped', 'histogram', 'summary'].includes(type))
    throw new Error(`${type} is no type`)
  if (families.some((family) => family.name === name)) throw new Error(`${name} stands twice`)
  return { name, type, ...(help?.name === name && { help: help.text }), samples: [] }
}

function sampleOf(line: string, family: Family | undefined): void {
  const [, name, labels, value = ''] = /^([^\s{]+)(?:\{(.*)\})? (\S+)$/u.exec(line) ?? []
  if (name === undefined || family?.name !== name) throw new Error(`${line}: no sample of ${family?.name}`)
  const sample = { labels: labelsOf(labels ?? ''), value: Number(value) }
  if (Number.isNaN(sample.value)) throw new Error(`${value} is no number`)
  const isKnown = family.samples.some((one) => JSON.stringify(one.labels) === JSON.stringify(sample.labels))
  if (isKnown) throw new Error(`${line}: this series stands twice`)
  family.samples.push(sample)
}

function labelsOf(text: string): Record<string, string> {
  const labels: Record<string, string> = {}
  label.lastIndex = 0
  while (label.lastIndex < text.length) {
    const [, name, value] = label.exec(text) ?? []
    if (name === undefined || value === undefined || name in labels) throw new Error(`labels ${text}`)
    labels[name] = unescaped(value, true)
  }
  return labels
}

const unescaped = (text: string, quotes: boolean): string =>
  text.replaceAll(/\\(.)/gu, (all, next: string) => {
    if (next === 'n') return '\n'
    return next === '\\' || (quotes && next === '"') ? next : all
  })
