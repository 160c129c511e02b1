// An upgrade under each fault of the simulator, and every line that it prints pasted: more than 3 s of processor time.
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { Pods } from '../../src/lib/kube/kinds/workload-kinds.ts'
import { asYaml } from '../../src/lib/manifests/apply-manifest.ts'
import { type Place, runText } from '../lib/run-text.ts'
import { faultNames } from './fault-names.ts'
import { pasteKubectl } from './pasted-kubectl.ts'
import { isCommand, remediesIn, withoutUntested } from './printed-commands.ts'
import { shellWords } from './shell-words.ts'
import { byTag, minute, play, type Stage } from './stage.ts'
import { type StallRow, stallRows } from './stall-rows.ts'

/** They cost time and hold nothing up: other tests show that a run goes on. */
const passing: Readonly<Record<string, string>> = {
  slow: 'faults-in-server.test.ts',
  blipAfterReady: 'false-ends.test.ts',
  moreHandlerRolls: 'false-ends.test.ts',
  noMigrationNames: 'odd-releases.test.ts',
  nodesClosedFor: 'odd-releases.test.ts',
  unknownComponent: 'odd-releases.test.ts',
  csvFailsFor: 'olm-passing-faults.test.ts',
  planStatusAfter: 'olm-passing-faults.test.ts',
  kindsServedAfter: 'olm-passing-faults.test.ts',
  resolutionStale: 'olm-stale-resolution.test.ts',
}

/** No upgrade meets them: it leaves such a cluster alone. Other tests show what the commands say that do meet them. */
const elsewhere: Readonly<Record<string, string>> = {
  hyperConvergedStopped: 'workloads-hold.test.ts',
  expired: 'degraded-all-the-same.test.ts',
  reconcileError: 'hyperconverged-faults.test.ts',
  components: 'hyperconverged-faults.test.ts',
  changesRefused: 'hyperconverged-faults.test.ts',
  conversionLost: 'hyperconverged-faults.test.ts',
  degradedOperators: 'platform-faults.test.ts',
  slowOperators: 'platform-faults.test.ts',
  notUpgradeable: 'platform-faults.test.ts',
  updatesNotRetrieved: 'platform-faults.test.ts',
  undrainableNodes: 'platform-faults.test.ts',
  lostNodes: 'platform-faults.test.ts',
  rebootTime: 'platform-faults.test.ts',
  addedPool: 'platform-faults.test.ts',
  unpausedPools: 'platform-faults.test.ts',
  firing: 'eus/alerts.test.ts',
}

/** They say how another fault looks: in whose words a registry refuses, and on which nodes (night C6). A slow one only takes longer. */
const faces = new Set(['pullWords', 'pullsFailOn', 'pullsTake'])

test('every fault of the simulator has a row here, or passes by itself', () => {
  const names = faultNames().filter((name) => !faces.has(name))
  for (const one of ['crashing', 'stopped', 'csvFails', 'components', 'lostNodes', 'webhook-down'])
    expect(names).toContain(one)
  expect(names.toSorted()).toEqual(Object.keys({ ...stallRows, ...passing, ...elsewhere }).toSorted())
})

test.each(Object.entries(elsewhere))('%s is played in %s', (fault, file) => {
  expect(readFileSync(new URL(file, import.meta.url), 'utf8').includes(fault)).toBe(true)
})

const rows = Object.entries(stallRows).flatMap(([fault, all]) =>
  all.map((row) => ({ title: `${fault}: ${row.name}`, row })),
)

function placeFor(stage: Stage, { to, shaky }: StallRow): Place {
  return {
    cluster: shaky ? stage.shaky : stage.cluster,
    clock: stage.clock,
    files: { 'operator.yaml': asYaml(stage.simulated.operatorManifest(to)) },
  }
}

/** As a person would who has the manifest at hand: no test fetches one. */
function withManifest(argv: readonly string[], { shape }: StallRow): string[] {
  const replaces = shape.method !== 'image-tag' || argv.includes('operator-manifest')
  const needs =
    shape.olm === undefined &&
    argv[0] === 'upgrade' &&
    replaces &&
    !argv.includes('image-tag') &&
    !argv.includes('--manifest')
  return [...argv, ...(needs ? ['--manifest', 'operator.yaml'] : [])]
}

const upgradeOf = ({ to, flags = [] }: StallRow): string[] => ['upgrade', '--to', to, '--yes', ...flags]

describe.for(rows)('$title', ({ row }) => {
  test('the sentence names object and cause, with commands that work when pasted', async () => {
    await play(row.shape, async (stage) => {
      const off = row.on(stage)
      const place = placeFor(stage, row)
      const ran = await runText(withManifest(upgradeOf(row), row), place)
      expect(ran).toMatchObject({ code: row.code })
      for (const said of row.says) expect(ran.err).toMatch(said)
      const snapshot = row.knownTo === 'both' ? (await runText(['status'], place)).out : ''
      if (isJudged(row)) await expectOneVerdict(ran.err, snapshot, { row, place })
      for (const said of row.knownTo === 'both' ? row.says : []) expect(snapshot).toMatch(said)
      for (const text of [ran.err, snapshot]) expect(text).not.toMatch(/lacks are deleted.*then deletes/u)
      const printed = [ran.err, snapshot].map(withoutUntested).flatMap(remediesIn).filter(isCommand)
      for (const wanted of row.prints) expect(printed).toContainEqual(expect.stringMatching(wanted))
      await pasteKubectls(printed, stage)
      await pasteKvups(printed, { row, stage, off })
    })
  })
})

/** `KubeVirt v1.7.0 -> v1.8.4: STALLED for 3 m: CAUSE`, what the first command is behind it, and which line continues. */
function headOf(text: string) {
  const head =
    /^KubeVirt (?<what>.*?): (?<word>[A-Z]+)(?: for (?<span>[^:]+))?: (?<cause>.*)$/mu.exec(text)?.groups ??
    {}
  const next = /^Next: (?<command>.+?)(?: {3,}.*)?$/mu.exec(text)?.groups?.['command']
  const afterwards = /^Then: (?<command>kvup upgrade --to \S+)/mu.exec(text)?.groups?.['command']
  return { what: head['what'], word: head['word'] ?? '', cause: head['cause'], next, afterwards }
}

/** Of OLM, and of what only the run knows, the heads have other words. */
const isJudged = ({ code, knownTo, shape }: StallRow): boolean =>
  code === 4 && knownTo === 'both' && shape.olm === undefined

/** The run, its end, a bare kvup and kvup status have one verdict and one cause; so has the same line typed again. */
async function expectOneVerdict(
  ran: string,
  status: string,
  { row, place }: { row: StallRow; place: Place },
): Promise<void> {
  const bare = (await runText([], place)).out
  const again = row.backInTrouble ? [(await runText(withManifest(upgradeOf(row), row), place)).err] : []
  const end = headOf(ran)
  expect(['STALLED', 'DEGRADED']).toContain(end.word)
  expect([headOf(bare), headOf(status)]).toEqual([end, end])
  for (const text of again) expect(headOf(text)).toMatchObject({ word: end.word, next: end.next })
  // The line that was just given up is never the next one; it comes behind the cause.
  const goal = `kvup upgrade --to ${row.to}`
  expect(end.next?.startsWith(`${goal} `) ? goal : end.afterwards).toBe(goal)
  // While it is at work it says the same word, and the error says it once more.
  const other = end.word === 'STALLED' ? 'DEGRADED' : 'STALLED'
  expect(ran).toContain(`${end.word} while waiting for `)
  expect(ran).toMatch(new RegExp(`^  ${end.word.toLowerCase()} for [^:]*while waiting for `, 'mu'))
  expect(row.turns ? '' : ran).not.toMatch(new RegExp(other, 'iu'))
  for (const text of [ran, bare, status, ...again])
    expect(text).not.toMatch(/by itself|\b0 s ago|: updating/u)
}

/** Reads first: what is deleted is not there any more. */
async function pasteKubectls(printed: readonly string[], { simulated, cluster }: Stage): Promise<void> {
  const lines = printed.filter((line) => line.startsWith('kubectl '))
  const changes = lines.filter((line) => line.includes(' delete '))
  for (const line of [...lines.filter((one) => !changes.includes(one)), ...changes])
    await pasteKubectl(line, { cluster, store: simulated.store })
}

/** Reads first, then the ways back and at last the ways on, so that each begins where it was printed for. */
async function pasteKvups(
  printed: readonly string[],
  { row, stage, off }: { row: StallRow; stage: Stage; off: () => void },
): Promise<void> {
  const place = { ...placeFor(stage, row), cluster: stage.cluster }
  const lines = printed.filter((line) => line.startsWith('kvup ')).map((line) => shellWords(line).slice(1))
  const upgrades = lines.filter(([verb]) => verb === 'upgrade')
  const isOn = (argv: readonly string[]) => argv.includes(row.to)
  for (const argv of lines.filter(([verb]) => verb !== 'upgrade' && verb !== 'workloads')) {
    const { code } = await runText(argv, place)
    // A check that finds what stands in the way has done its work.
    expect(argv[0] === 'check' ? [0, 3] : [0]).toContain(code)
  }
  if (!row.backInTrouble) off()
  for (const argv of upgrades.filter((words) => !isOn(words))) await expectDone(argv, row, place)
  off()
  for (const argv of upgrades.filter((words) => isOn(words) && !words.includes('--follow')))
    await expectDone(argv, row, place)
  for (const argv of lines.filter(([verb]) => verb === 'workloads')) await expectDone(argv, row, place)
  expect(stage.methods).toEqual(['LiveMigrate'])
  expect(await stage.journal.overrides()).toEqual([])
  await stage.until(minute)
}

async function expectDone(argv: readonly string[], row: StallRow, place: Place): Promise<void> {
  const patient = argv.map((word, i) => (argv[i - 1] === '--timeout' ? '60m' : word))
  const { code, err } = await runText(withManifest(patient, row), place)
  expect({ argv, code, err: code === 0 ? '' : err }).toEqual({ argv, code: 0, err: '' })
}

const wrong = [
  ['a pod that is not there', 'kubectl -n kubevirt logs virt-handler-none', 'not found'],
  ['a namespace that is not the one', 'kubectl get pods', 'shows nothing'],
  [
    'a log of before of a container that never ended',
    'kubectl -n kubevirt logs POD --previous',
    'previous terminated',
  ],
  ['a flag that is none', 'kubectl -n kubevirt get pods --really', 'no such flag'],
  ['a resource that is none', 'kubectl get kubevirtz -A', 'resource type'],
  ['a list that is empty', 'kubectl -n kubevirt get pods -l kubevirt.io=none', 'shows nothing'],
  ['a verb that changes something', 'kubectl delete node worker-1', 'no such verb'],
  ['a pipe', 'kubectl get nodes | head', 'no plain command'],
  ['a placeholder', 'kubectl -n kubevirt describe pod <name>', 'no plain command'],
] as const

test('a line that kubectl would refuse, or that shows nothing, would be found', async () => {
  await play(byTag, async ({ cluster, simulated: { store } }) => {
    const [pod] = store.list(Pods, { namespace: 'kubevirt' }).items
    for (const [what, line, why] of wrong) {
      const pasted = pasteKubectl(line.replace('POD', pod?.metadata.name ?? ''), { cluster, store })
      const told = await pasted.catch((error: Error) => error.message)
      expect([what, told]).toEqual([what, expect.stringContaining(why)])
    }
  })
})

test('a command in the middle of prose would be found', () => {
  expect(() => isCommand('find out who it is: kubectl get pods')).toThrow('in the middle of prose')
  expect(isCommand('stop what writes it, and run the same command again')).toBe(false)
  expect(remediesIn('error: x\n  -> kvup history     shows it\n  -> prose')).toEqual([
    'kvup history',
    'prose',
  ])
})
