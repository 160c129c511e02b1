import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { ownMark, printedLine } from '../../../src/lib/output/terminal.ts'
import { wrap } from '../../../src/lib/output/text.ts'
import fixture from './pasted-lines.json' with { type: 'json' }

/** What a shell makes of lines that are pasted: the words of each command, as its programs are handed them. */
function pasted(lines: string): string[][] {
  const tell = 'tell() { printf "%s\\0" "$@"; printf "\\n"; }; '
  const programs = 'for p in kvup kubectl oc virtctl curl; do eval "$p() { tell $p \\"\\$@\\"; }"; done; '
  const script = `${tell}${programs}${lines}`
  const told = execFileSync('bash', ['--norc', '--noprofile', '-c', script], {
    encoding: 'utf8',
    env: {},
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return told
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split('\0').slice(0, -1))
}

const lead = /^.*?(?:→|Next:|Back:) /u

const lines = fixture.lines

describe.each([24, 40, 80, 120])('pasted from a terminal of %i columns', (columns) => {
  test.each(lines)('%s', (line) => {
    const broken = wrap(line.replace(/(?=→|Next:|Back:)/u, ownMark), columns).map(printedLine)
    expect(broken.filter((part) => part.length > columns)).toEqual([])
    expect(pasted(broken.join('\n').replace(lead, ''))).toEqual(pasted(line.replace(lead, '')))
  })
})
