/** The texts of `Warning: 299 - "…"` headers; several may stand in one line. */
export function warningTexts(header: string | undefined): string[] {
  const quoted = (header ?? '').matchAll(/\b\d{3} \S+ "((?:[^"\\]|\\.)*)"/g)
  return [...quoted].map(([, text = '']) => text.replace(/\\(.)/g, '$1'))
}

/** Tells each text once, however often the server repeats it. */
export function once(tell: (text: string) => void): (text: string) => void {
  const told = new Set<string>()
  return (text) => {
    if (told.has(text)) return
    told.add(text)
    tell(text)
  }
}
