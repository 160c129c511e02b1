/** The lines behind an arrow or `Next:` and the like in what kvup printed, without what stands behind a command: `kvup history     shows …`. */
export function remediesIn(text: string): string[] {
  const lines = [...text.matchAll(/^ *(?:->|→|Next:|Then:|Or:|Back:|Details:) (.*)$/gm)].map(
    ([, line = '']) => line,
  )
  return [...new Set(lines.map((line) => line.split(/ {3,}/, 1)[0]?.trim() ?? ''))]
}

/** Without the lines that say of themselves that nobody ran them. */
export const withoutUntested = (text: string): string => text.replace(/^.*\(untested\b.*$\n?/gm, '')

const tools = ['kvup', 'kubectl']

/** A line that begins with a tool is a command; any other is prose and must not have one inside. Throws for a mixture. */
export function isCommand(line: string): boolean {
  if (tools.some((tool) => line.startsWith(`${tool} `))) return true
  if (/\b(kvup|kubectl|oc|helm) [a-z-]/.test(line))
    throw new Error(`a command in the middle of prose: ${line}`)
  return false
}
