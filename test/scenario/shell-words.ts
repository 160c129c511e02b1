/** A line as a shell splits it, single quotes included. Throws for what a plain command has no business with: pipes, variables, redirections. */
export function shellWords(line: string): string[] {
  const words: string[] = []
  const token = /\s*(?:'([^']*)'|([^\s'"|&;<>$`\\(){}*?]+))/gy
  let open = false
  while (token.lastIndex < line.trimEnd().length) {
    const at = token.lastIndex
    const found = token.exec(line)
    if (!found) throw new Error(`no plain command: ${line}`)
    const part = found[1] ?? found[2] ?? ''
    const glued = open && !/\s/.test(line[at] ?? '')
    if (glued) words.push(`${words.pop() ?? ''}${part}`)
    else words.push(part)
    open = true
  }
  return words
}
