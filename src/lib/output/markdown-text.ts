/** Somebody's text stays text, on one line. */
export function markdownText(words: string): string {
  return words.replaceAll(/\s*\n\s*/gu, ' ').replaceAll(/[\\`*_[\]<>|#]/gu, String.raw`\$&`)
}

/** A block of code that nothing inside of it can end. */
export function fenced(lines: readonly string[], language = ''): string[] {
  const fence = '`'.repeat(Math.max(3, longestRun(lines.join('\n')) + 1))
  return [`${fence}${language}`, ...lines.map((line) => line.replaceAll(/\s*\n\s*/gu, ' ')), fence]
}

/** Code within a line, whatever backticks are in it. */
export function inlineCode(words: string): string {
  const text = words.replaceAll(/\s*\n\s*/gu, ' ')
  const run = longestRun(text)
  const [tick, gap] = ['`'.repeat(run + 1), run > 0 ? ' ' : '']
  return `${tick}${gap}${text}${gap}${tick}`
}

function longestRun(text: string): number {
  return Math.max(0, ...[...text.matchAll(/`+/gu)].map(([run]) => run.length))
}
