/** Columns that East Asian and emoji characters take two of; combining marks and joiners take none. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u
const plainAscii = /^[\u0020-\u007e]*$/
const markOnly = /^(?:\p{Mark}|\u200d)+$/u

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** How many terminal columns a text without escape sequences takes. */
export function displayWidth(text: string): number {
  if (plainAscii.test(text)) return text.length
  let width = 0
  for (const { segment } of graphemes.segment(text)) width += graphemeWidth(segment)
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
  for (const { segment } of graphemes.segment(text)) {
    used += graphemeWidth(segment)
    if (used > room) break
    kept += segment
  }
  return kept + ellipsis
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
