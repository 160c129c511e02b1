import { describe, expect, test } from 'vitest'
import { oneLine } from '../../../src/lib/kube/shell-line.ts'
import { onSingleLine } from '../../../src/lib/kube/text.ts'
import { onOneLine } from '../../../src/lib/output/terminal.ts'

describe('lines of somebody else as one', () => {
  test.each([
    ['one line', 'one line'],
    ['  blanks  stay ', '  blanks  stay '],
    ['a\nb', 'a b'],
    ['a  \r\n\t b \n\n \n c', 'a b c'],
    ['\na\n', ' a '],
    ['\n', ' '],
  ])('%j is %j', (text, line) => {
    expect(onSingleLine(text)).toBe(line)
  })

  // By a pattern that looks for blanks before a line end it took the square of them: minutes.
  test.each([onSingleLine, onOneLine, oneLine])('a megabyte of blanks takes no time (%o)', (joined) => {
    const began = performance.now()
    expect(joined(`a${' '.repeat(1_000_000)}b\nc`)).toHaveLength(1_000_004)
    expect(performance.now() - began).toBeLessThan(2000)
  })
})
