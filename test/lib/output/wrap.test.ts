import { describe, expect, test } from 'vitest'
import { isCommand, programs } from '../../../src/lib/kube/shell-line.ts'
import { ownMark, printedLine } from '../../../src/lib/output/terminal.ts'
import { wrap as wrapped } from '../../../src/lib/output/text.ts'

/** What is printed of a line in which kvup made each arrow. */
const wrap = (line: string, columns: number) =>
  wrapped(line.replaceAll('→', `${ownMark}→`), columns).map(printedLine)

describe('a line on a terminal', () => {
  test('is broken between words, and goes on two columns further in', () => {
    expect(wrap('consoles and VNC sessions drop once', 20)).toEqual([
      'consoles and VNC',
      '  sessions drop once',
    ])
  })

  test('with a label goes on below its text', () => {
    expect(wrap('took   one 3s, two 4s, three 5s', 20)).toEqual(['took   one 3s, two', '       4s, three 5s'])
  })

  test('is left alone on a pipe, and where it fits', () => {
    expect(wrap('fits', 4)).toEqual(['fits'])
    expect(wrap('a b c d', Infinity)).toEqual(['a b c d'])
  })

  test('colours take no room, and a word that is too long is left to the terminal', () => {
    expect(wrap('\u001b[31mab cd\u001b[39m', 5)).toEqual(['\u001b[31mab cd\u001b[39m'])
    expect(wrap('see https://example.org/a/b', 10)).toEqual(['see', '  https://example.org/a/b'])
  })

  test('a mark stays with the word behind it', () => {
    expect(wrap(' ✖ virt-controller is new', 12)).toEqual([' ✖ virt-controller', '   is new'])
  })

  test('behind an arrow a sentence goes on below its first word', () => {
    expect(wrap('   → take Kubernetes to 1.34 first', 22)).toEqual([
      '   → take Kubernetes',
      '     to 1.34 first',
    ])
  })
})

describe('a command behind an arrow', () => {
  test.each(programs)('of %s is broken behind a backslash: each that may have an arrow', (program) => {
    const line = `${program} --of=a-long-word another-long-word`
    expect(isCommand(line)).toBe(true)
    expect(wrap(`  → ${line}`, 36)[0]).toMatch(/ \\$/u)
  })

  test('goes on after a backslash, so that it is one when it is pasted', () => {
    expect(wrap('  → kubectl -n kubevirt describe pod virt-handler-abcde', 30)).toEqual([
      '  → kubectl -n kubevirt \\',
      '      describe pod \\',
      '      virt-handler-abcde',
    ])
  })

  test('is broken inside of quotes only where that takes less than all of a line, and so that a shell joins it', () => {
    const quoted = `'{range .items[*]}{.metadata.name} {end}'`
    const line = `  → kubectl get pods -o jsonpath=${quoted} -A`
    expect(wrap(line, 58)).toEqual(['  → kubectl get pods -o \\', `      jsonpath=${quoted} \\`, '      -A'])
    expect(wrap(line, 24)).toEqual([
      '  → kubectl get pods \\',
      '      -o \\',
      "jsonpath='{range .it'\\",
      "'ems[*]}{.metadata.nam'\\",
      "'e} {end}' -A",
    ])
  })

  test('what it does stands below it where both do not fit', () => {
    const line = '  → kvup restore-settings     gives workload updates back'
    expect(wrap(line, 80)).toEqual([line])
    expect(wrap(line, 36)).toEqual(['  → kvup restore-settings', '      # gives workload updates back'])
  })

  test('colours around it are no words', () => {
    expect(wrap('  \u001b[2m→ kvup status --watch\u001b[22m', 16)).toEqual([
      '  \u001b[2m→ kvup \\',
      '      status \\',
      '      --watch\u001b[22m',
    ])
    expect(wrap('  \u001b[2m→\u001b[22m kvup status --watch', 16)).toEqual([
      '  \u001b[2m→\u001b[22m kvup \\',
      '      status \\',
      '      --watch',
    ])
  })
})
