const longest = 1000

/** Keeps both ends: the beginning says what, the end says why. */
export function shortened(text: string, most = longest): string {
  if (text.length <= most) return text
  const half = Math.floor((most - 5) / 2)
  return `${text.slice(0, half)} […] ${text.slice(-half)}`
}

/** What somebody said who is no API server, in one line: of a page its title. */
export function bodyInWords(body: string, most?: number): string {
  const text = oneLine(body)
  if (!/^<(?:!doctype html|html|head|body|\?xml)\b/iu.test(text)) return shortened(text, most)
  const title = /<title[^>]*>([^<]*)<\/title>/iu.exec(text)?.[1]?.trim()
  const said = title || oneLine(text.replaceAll(/<(script|style)\b.*?<\/\1>|<[^>]*>/giu, ' '))
  return said === '' ? 'an HTML page' : `an HTML page, "${shortened(said, 80)}"`
}

const oneLine = (text: string): string => text.replaceAll(/\s+/gu, ' ').trim()
