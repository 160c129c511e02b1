/** The parts of docs/checks.md, by the beginning of their headings. */
const kinds = [
  ['Findings', 'finding'],
  ['Refusals', 'refusal'],
  ['Alerts', 'alert'],
  ['Conditions', 'condition'],
  ['Components', 'component'],
  ['Reasons', 'reason'],
  ['Log texts', 'message'],
  ['Commands', 'command'],
  ['Exit codes', 'exit-code'],
] as const

const parts = ['What it means', 'Why it matters', 'How to fix'] as const

/** docs/checks.md as data, so that `kvup explain` needs no file: a section each. Throws where a section lacks a part. */
export function explanations(page: string): string {
  const all = page.split(/^# /mu).flatMap((chapter) => {
    const [, kind] = kinds.find(([name]) => chapter.startsWith(name)) ?? []
    if (kind === undefined) return []
    return chapter
      .split(/^## /mu)
      .slice(1)
      .map((text) => section(kind, text))
  })
  return `${JSON.stringify(all, undefined, 2)}\n`
}

/** Its name, a line that says what it is or at which levels it comes, and three parts; a part ends where the next begins. */
function section(
  kind: string,
  text: string,
): Record<'kind' | 'id' | 'level' | 'means' | 'matters' | 'fix', string> {
  const [id = '', ...lines] = text.split('\n')
  const [level = '', ...bodies] = lines.join('\n').split(/^\*\*[^*\n]+\.\*\* /mu)
  const headings = [...text.matchAll(/^\*\*([^*\n]+)\.\*\* /gmu)].map(([, heading]) => heading)
  if (headings.join() !== parts.join())
    throw new Error(`docs/checks.md: ${id} has ${headings.join(', ')} and not ${parts.join(', ')}`)
  const [means = '', matters = '', fix = ''] = bodies.map((body) => body.trim())
  return { kind, id: id.trim(), level: level.trim(), means, matters, fix }
}
