import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { VirtualMachines } from '../../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { type Alive, put, serveCluster } from '../simulated.ts'
import { missing, openShell, type ShellName, sooner, type TerminalShell } from './terminal-shell.ts'

let alive: Alive
beforeAll(async () => {
  alive = await serveCluster({
    version: 'v1.7.0',
    method: 'image-tag',
    operator: 'v1.8.4',
    speed: 1,
    users: ['jane'],
  })
  for (const namespace of ['shop', 'staging'])
    put(alive.store, {
      apiVersion: VirtualMachines.apiVersion,
      kind: VirtualMachines.kind,
      metadata: { name: 'vm', namespace },
    })
})
afterAll(() => alive.stop())

const whole = ['v1.7.4', 'v1.8.4']
const formats = [
  'custom-columns=',
  'github',
  'json',
  'jsonpath-file=',
  'jsonpath=',
  'name',
  'ndjson',
  'table',
  'wide',
  'yaml',
]
const hold = 'pause-workload-updates'
const steps = ['set-image-tag', 'virt-api', 'virt-handler', 'healthy', 'healthy-again']

/** Everything that is offered, in the words that the line then holds. */
const offered: readonly (readonly [typed: string, all: readonly string[]])[] = [
  [
    'kvup workloads ',
    [
      'forecast',
      'help',
      'live-update',
      'migrations',
      'outdated',
      'pause-updates',
      'restart',
      'restart-required',
      'resume-updates',
      'strategy',
      'unblock',
      'update',
    ],
  ],
  ['kvup upgrade --to ', whole],
  ['kvup upgrade --to=', whole],
  ['kvup wait --for version=', ['version=v1.7.0', 'version=v1.7.4', 'version=v1.8.4']],
  ['kvup status -n s', ['shop', 'staging']],
  ['kvup status --context ', ['jane', 'sim']],
  ['kvup upgrade --method=', ['auto', 'image-tag', 'olm', 'operator-manifest']],
  ['kvup upgrade --dry-run=', ['client', 'none', 'server']],
  ['kvup status -o ', formats],
]

/** One thing fits, and TAB puts it there; a blank after it where the word is whole. */
const finished = [
  ['kvup st', 'kvup status '],
  ['kvup status --watc', 'kvup status --watch '],
  ['kvup wait --for ver', 'kvup wait --for version='],
  ['kvup wait --for version=v1.8', 'kvup wait --for version=v1.8.4 '],
  ['kvup wait --for=version=v1.8', 'kvup wait --for=version=v1.8.4 '],
  ['kvup status -o jsonpath-', 'kvup status -o jsonpath-file='],
  ['kvup upgrade --accept=kubernetes-wi', 'kvup upgrade --accept=kubernetes-window '],
  [
    'kvup upgrade --to v1.8.4 --pause-before pause',
    'kvup upgrade --to v1.8.4 --pause-before pause-workload-updates ',
  ],
  ["kvup --context 'two words' workl", "kvup --context 'two words' workloads "],
  ['kvup explain kubernetes-w', 'kvup explain kubernetes-window '],
  ['kvup status --kubeconfig kubeconf', 'kvup status --kubeconfig kubeconfig-of-mine '],
  ['kvup status --kubeconfig=kubeconf', 'kvup status --kubeconfig=kubeconfig-of-mine '],
  ['kvup status --output=jsonpath-file=kubeconf', 'kvup status --output=jsonpath-file=kubeconfig-of-mine '],
  // Neither a value that is known nor a file.
  ['kvup status --as kubeconf', 'kvup status --as kubeconf'],
  ['kvup upgrade --until virt-h', 'kvup upgrade --until virt-h'],
  ['kvup nonsense kubeconf', 'kvup nonsense kubeconf'],
] as const

describe.each<ShellName>(['bash', 'zsh', 'fish'])('%s', (name) => {
  const reason = missing(name)
  describe.skipIf(reason !== undefined)(`with its editor (${reason ?? 'runs here'})`, () => {
    let shell: TerminalShell
    beforeAll(async () => {
      shell = await openShell(name, alive.kubeconfig)
      writeFileSync(join(shell.folder, 'kubeconfig-of-mine'), '')
    })
    afterAll(() => shell.stop())

    test.each(offered)('%s: everything that fits', async (typed, all) => {
      const words = async () => (await shell.all(typed)).map(bare).toSorted()
      await expect.poll(words, sooner).toEqual(inOneWord(typed, all).toSorted())
    })

    test.each(finished)('%s', async (typed, line) => {
      await expect.poll(() => shell.tab(typed), sooner).toBe(line)
    })

    const stepsOf = async (flags: string) => (await shell.all(`kvup upgrade ${flags} --until `)).map(bare)

    const notHeld = '--to v1.8.4 --no-pause-updates'

    test('the steps of the upgrade that stands on the line', async () => {
      await expect
        .poll(() => stepsOf('--to v1.8.4'), sooner)
        .toEqual(expect.arrayContaining([hold, ...steps]))
      await expect.poll(() => stepsOf(notHeld), sooner).toEqual(expect.arrayContaining(steps))
      expect(await stepsOf(notHeld)).not.toContain(hold)
    })

    test('what is completed is what the program is given', async () => {
      await expect
        .poll(() => shell.enter('kvup upgrade --to v1.8'), sooner)
        .toEqual(['upgrade', '--to', 'v1.8.4'])
      await expect
        .poll(() => shell.enter('kvup upgrade --to=v1.8'), sooner)
        .toEqual(['upgrade', '--to=v1.8.4'])
    })
  })

  /** Where bash splits a word at "=", all that fits are words of their own behind the first. */
  function inOneWord(typed: string, all: readonly string[]): string[] {
    const [begun] = /version=$/.exec(typed) ?? []
    if (name !== 'bash' || begun === undefined) return [...all]
    return all.map((word, index) => (index === 0 ? word : word.slice(begun.length)))
  }
})

/** Without what escapes it, and without the option before it. */
const bare = (word: string) => word.replaceAll('\\', '').replace(/^--[a-z-]+=/, '')
