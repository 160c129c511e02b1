/** docs/checks.md as data, so that `kvup explain` needs no file: a section each, and a row of the table of refusals each. */
export function explanations(page: string): string {
  const [findings = '', refusals = ''] = page.split(/^# Refusals.*$/mu)
  const sections = findings.split(/^## /mu).slice(1).map(section)
  const rows = [...refusals.matchAll(/^\| ([a-z-]+(?:, [a-z-]+)*) +\| (.*?) +\| (.*?) +\|$/gmu)].flatMap(
    ([, ids = '', why = '', what = '']) =>
      ids
        .split(', ')
        .filter((id) => id !== 'reason')
        .map((id) => ({ id, text: `Refused, and cannot be accepted. ${why} ${what}` })),
  )
  return `${JSON.stringify([...sections, ...rows], undefined, 2)}\n`
}

function section(text: string): { id: string; text: string } {
  const [id = '', ...lines] = text.split('\n')
  return { id: id.trim(), text: lines.join('\n').trim() }
}
