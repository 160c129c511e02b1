/** Columns that East Asian and emoji characters take two of; combining marks and joiners take none. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u
/** One column for each: ASCII, Latin letters, and the dots, dashes, arrows, bars and ticks of our own typography. */
const narrow = /^[\u0020-\u007e\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027\u2190-\u21ff\u2500-\u259f✔✖▸]*$/
const markOnly = /^(?:\p{Mark}|\u200d)+$/u

let segmenter: Intl.Segmenter | undefined

/** Made for the first text that needs it: that takes a third of what Node takes to start. */
function graphemesOf(text: string): Iterable<Intl.SegmentData> {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' })
  return segmenter.segment(text)
}

/** How many terminal columns a text without escape sequences takes. */
export function displayWidth(text: string): number {
  if (narrow.test(text)) return text.length
  let width = 0
  for (const { segment } of graphemesOf(text)) width += graphemeWidth(segment)
  return width
}

function graphemeWidth(grapheme: string): number {
  if (markOnly.test(grapheme)) return 0
  return wide.test(grapheme) || grapheme.includes('\ufe0f') ? 2 : 1
}

/** The text cut to `width` columns, the last of them an ellipsis where something was cut. */
export function cut(text: string, width: number, ellipsis = '…'): string {
  if (width <= 0) return ''
  if (displayWidth(text) <= width) return text
  const room = width - displayWidth(ellipsis)
  if (room <= 0) return ellipsis.slice(0, width)
  let kept = ''
  let used = 0
  for (const { segment } of graphemesOf(text)) {
    used += graphemeWidth(segment)
    if (used > room) break
    kept += segment
  }
  return kept + ellipsis
}

/** The text in pieces of at most `width` columns, for a word that is wider than the terminal and must be shown whole. */
export function pieces(text: string, width: number): string[] {
  if (displayWidth(text) <= width || width < 2) return [text]
  const parts = ['']
  let used = 0
  for (const { segment } of graphemesOf(text)) {
    used += graphemeWidth(segment)
    if (used > width) {
      parts.push('')
      used = graphemeWidth(segment)
    }
    parts[parts.length - 1] += segment
  }
  return parts
}

/** Padded with blanks to `width` columns. */
export function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - displayWidth(text)))
}

/* oxlint-disable-next-line no-control-regex */
const colour = /\u001b\[[0-9;]*m/g

/** As `displayWidth`, for a painted line. */
export function paintedWidth(line: string): number {
  return displayWidth(line.replace(colour, ''))
}
