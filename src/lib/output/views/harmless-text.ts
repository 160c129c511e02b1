/** For how long it does no harm to leave a loan open, in words: `harmless for days`, `not harmless while it is refused`. */
export function harmlessText(harmless: string): string {
  const not = /^not at all(?<rest>.*)$/su.exec(harmless)
  return not === null ? `harmless ${harmless}` : `not harmless${not.groups?.['rest'] ?? ''}`
}
