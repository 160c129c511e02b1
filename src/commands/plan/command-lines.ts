/** What only a plan takes. */
const ofPlan = /\s+(?:--exit-code\b|(?:-o|--output|--to-file)(?:=|\s+|(?<=-o))(?:'[^']*'|\S+))/gu

/** The command that carries a plan out: the file where there is one, else the same flags. */
export function commandLines(typed: string, file: string | undefined): readonly string[] {
  const line = typed.replace(/\bplan\b/u, 'upgrade').replaceAll(ofPlan, '')
  if (file !== undefined)
    return [`${line.slice(0, line.indexOf(' upgrade') + ' upgrade'.length)} --plan ${file}`]
  return [
    `${line}     carries it out`,
    `${typed.replaceAll(ofPlan, '')} --to-file plan.yaml     keeps it, for kvup upgrade --plan plan.yaml`,
  ]
}
