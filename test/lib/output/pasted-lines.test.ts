import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { ownMark, printedLine } from '../../../src/lib/output/terminal.ts'
import { wrap } from '../../../src/lib/output/text.ts'

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

const lines = [
  'Next: kubectl -n kubevirt describe pod virt-template-apiserver-7p26wlt4sx-776xp',
  '  → kubectl -n kubevirt logs kubevirt-85ed197a1481158eb86cbea450901cf4071e3ac2-jobkvtdn-4shrb --previous     # the last words of the pod that ended',
  "also            → kubectl get crd virtualmachineexports.export.kubevirt.io -o jsonpath='{.status.storedVersions} and {.spec.names.kind}'",
  '  → curl -fL --create-dirs -o releases/v1.8.4/kubevirt-operator.yaml https://github.com/kubevirt/kubevirt/releases/download/v1.8.4/kubevirt-operator.yaml     # on a computer that can reach it',
  "  → kubectl patch vm 'it'\\''s a name with blanks that is very much longer than a terminal of forty columns' --type json # a comment behind one blank",
  "  → kvup upgrade --reason $'one\\u000atwo three four five six seven eight nine ten' --to v1.8.4",
  '  → oc -n openshift-cnv get "a $HOME in double quotes that goes on for more than one line of it" -o yaml',
  'Back: kvup upgrade --to v1.7.4     # goes back; CRDs that v1.7.4 lacks are deleted, with all their objects',
]

describe.each([24, 40, 80, 120])('pasted from a terminal of %i columns', (columns) => {
  test.each(lines)('%s', (line) => {
    const broken = wrap(line.replace(/(?=→|Next:|Back:)/u, ownMark), columns).map(printedLine)
    expect(broken.filter((part) => part.length > columns)).toEqual([])
    expect(pasted(broken.join('\n').replace(lead, ''))).toEqual(pasted(line.replace(lead, '')))
  })
})
