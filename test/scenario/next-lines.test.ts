// Every line that kvup prints in every scenario of the demo: more than 3 s of processor time.
import { globSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { typed } from '../../src/commands/demo/demo.ts'
import { isWrite } from '../../src/simulator/api/api-request.ts'
import { asYaml } from '../../src/lib/manifests/apply-manifest.ts'
import { servedCatalog } from '../../src/simulator/olm/catalog-content.ts'
import { servedGraph } from '../../src/simulator/openshift/cluster-updates.ts'
import { type Scenario, scenarios } from '../../src/simulator/scenarios.ts'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import { type SimulatedCluster, startScenario } from '../../src/simulator/simulated-cluster.ts'
import { type Place, runText } from '../lib/run-text.ts'
import {
  isRead,
  isSameAgain,
  type NextLine,
  nextLinesIn,
  placeholderIn,
  roughWords,
  unpasteable,
  unsaidHarm,
} from './next-lines.ts'
import { isEvery, shuffled } from './killed.ts'
import { pasteKubectl } from './pasted-kubectl.ts'
import { kvupUser } from './stage.ts'
import { refusedBy } from './tool-flags.ts'

/** A simulated cluster, kvup in front of it, and what it printed. */
class Played {
  readonly simulated: SimulatedCluster
  readonly place: Place
  /** What is wrong with a printed line, and after which command. */
  readonly wrong: string[] = []
  readonly #pasted = new Set<string>()
  readonly #failed = new Map<string, string>()
  /** These are run anyway. */
  readonly #looks: ReadonlySet<string>

  constructor(simulated: SimulatedCluster, place: Place, looks: readonly string[][]) {
    this.simulated = simulated
    this.place = place
    this.#looks = new Set(looks.filter(isRead).map((argv) => `kvup ${argv.join(' ')}`))
  }

  /** Runs a command, and holds every line that it printed against what a line has to be. */
  async run(argv: readonly string[]): Promise<{ code: number; lines: readonly NextLine[] }> {
    const mark = this.simulated.store.audit.length
    const { code, out, err } = await runText(argv, this.place)
    const hasBegun = this.simulated.store.audit
      .slice(mark)
      .some((request) => request.user === kvupUser && isWrite(request))
    const lines = nextLinesIn(`${out}\n${err}`)
    for (const line of lines)
      for (const why of faultsOf(line, argv, hasBegun ? 0 : code))
        this.wrong.push(
          `${why}: ${line.command}${line.says && `   # ${line.says}`} (printed by kvup ${argv.join(' ')})`,
        )
    const command = `kvup ${argv.join(' ')}`
    if (this.#looks.has(command) && !hasDoneItsWork(argv, code))
      this.#failed.set(command, `exit ${code}, ${err}`)
    return { code, lines }
  }

  /** Each once in this state of the cluster: what reads is run, what changes is run as a dry run. */
  async paste(lines: readonly NextLine[]): Promise<void> {
    for (const { command } of lines) {
      if (this.#pasted.has(command)) continue
      this.#pasted.add(command)
      if (this.#looks.has(command)) continue
      const why = await this.#refusal(command).catch((error: Error) => error.message)
      if (why !== undefined) this.wrong.push(`${why}: ${command}`)
    }
  }

  /** Of the looks that were printed as well. */
  judgeLooks(): void {
    for (const [command, why] of this.#failed)
      if (this.#pasted.has(command)) this.wrong.push(`${why}: ${command}`)
  }

  /** The cluster has changed: what was right before may be wrong. */
  forget(): void {
    this.judgeLooks()
    this.#failed.clear()
    this.#pasted.clear()
  }

  async #refusal(command: string): Promise<string | undefined> {
    const [first = ''] = command.split(/ \| | > /u)
    if (/^(?:kubectl|oc) (?!adm |.*\bexec\b|.*\breplace\b|api-resources)/u.test(first)) {
      const { cluster } = this.place
      const dry = { ...cluster, writer: cluster.reviewer.dryRun }
      await pasteKubectl(first.replace(/^oc /u, 'kubectl '), { cluster: dry, store: this.simulated.store })
    }
    return first.startsWith('kvup ') ? this.#kvup(roughWords(first).slice(1)) : undefined
  }

  async #kvup(words: readonly string[]): Promise<string | undefined> {
    const line = words.filter((word) => word !== '-w')
    const argv = isRead(line) ? line : [...line, '--yes', '--dry-run=client']
    const manifest = manifestFor(line, this.place)
    const ended = await runText([...argv, ...manifest], this.place)
    // Where the line needs no manifest one that is named is refused, or it would take a newer operator back.
    const isTooMuch = manifest.length > 0 && (ended.code === 2 || /\(operator-goes-back[,)]/u.test(ended.err))
    const { code, err } = isTooMuch ? await runText(argv, this.place) : ended
    if (hasDoneItsWork(argv, code)) return undefined
    const [error = '', id = ''] = /^error: .*?(?:\((?<id>[a-z-]+)(?:, [a-z-]+)*\))?$/mu.exec(err) ?? []
    // A dry run is refused as the run is, and the refusal names the risk and what helps instead.
    const resumes = argv[0] === 'workloads' && ['restore', 'resume-updates'].includes(argv[1] ?? '')
    if (resumes && id === 'evictions') return undefined
    // On a terminal it asks about this very loss, VM by VM.
    if (argv[0] === 'workloads' && argv[1] === 'restart' && id === 'data-loss') return undefined
    return argv[0] === 'upgrade' && (await this.#isKnown(id, argv)) ? undefined : `exit ${code}, ${error}`
  }

  /** What kvup check names has been said: it comes first. It forecasts no evictions: those are a risk of the upgrade, which names them. */
  async #isKnown(id: string, argv: readonly string[]): Promise<boolean> {
    const to = argv[argv.indexOf('--to') + 1] ?? ''
    if (id === 'evictions') return true
    const { out } = await runText(['check', '--all', '--to', to, '--manifest', `${to}.yaml`], this.place)
    return id !== '' && new RegExp(`\\b${id}\\)?$`, 'mu').test(out)
  }
}

/** A check that finds what stands in the way has done its work, and so has a plan. */
const hasDoneItsWork = ([first, second]: readonly string[], code: number): boolean =>
  code === 0 || (code === 3 && (first === 'check' || second === 'plan'))

/** As a person would who has the manifest at hand: no test fetches one. */
function manifestFor(argv: readonly string[], { files = {} }: Place): string[] {
  const file = `${argv[argv.indexOf('--to') + 1]}.yaml`
  const asks = /^(?:check|upgrade)$/u.test(argv[0] ?? '') && argv.includes('--to')
  return asks && !argv.includes('--manifest') && files[file] !== undefined ? ['--manifest', file] : []
}

function faultsOf(line: NextLine, argv: readonly string[], code: number): string[] {
  const { command } = line
  const refused = unpasteable(command)
  const harm = unsaidHarm(line)
  const isBare = /^kvup upgrade(?!.* --(?:to|plan)\b)/u.test(command)
  return [
    ...(refused === undefined ? [] : [refused]),
    ...(harm === undefined ? [] : [`${harm}, and does not say so`]),
    ...(isSameAgain(command, argv, code) ? ['the same line again'] : []),
    ...(isBare ? ['without a version it ends with exit 2'] : []),
  ]
}

const versions = ['v1.7.0', 'v1.7.4', 'v1.8.4', 'v1.8.5', 'v1.9.0']

async function played(scenario: Scenario): Promise<Played> {
  const clock = new SimClock()
  const simulated = await startScenario(scenario, { clock })
  const { openshift, olm } = scenario.cluster
  const manifests = versions.map((version) => [
    `${version}.yaml`,
    asYaml(simulated.operatorManifest(version)),
  ])
  const files = {
    ...Object.fromEntries(manifests),
    ...(openshift && { 'graph.json': servedGraph(openshift) }),
    ...(olm && { 'catalog.yaml': servedCatalog(olm, undefined) }),
  }
  return new Played(simulated, { cluster: simulated.cluster(), clock, files }, looksAt(scenario))
}

/** What the scenario is about, as it is typed. */
function lineOf(scenario: Scenario): string[] {
  const { args } = typed(scenario)
  if ('update' in scenario) return ['workloads', 'update', ...args, '--yes']
  if ('typed' in scenario) return [...scenario.typed.command.split(' '), ...args, '--yes']
  const { to } = scenario.upgrade
  return ['upgrade', ...args.map((word) => (word === '-' ? `${to}.yaml` : word)), '--yes']
}

/** What a person looks at before and afterwards. */
function looksAt(scenario: Scenario): string[][] {
  const to = 'upgrade' in scenario ? scenario.upgrade.to : undefined
  const target = to === undefined ? [] : ['--to', to, '--manifest', `${to}.yaml`]
  const eus = ['eus plan --to 4.20 --graph-file graph.json --catalog-file catalog.yaml', 'eus status']
  return [
    ['check', ...target],
    ...[
      'status',
      'workloads outdated',
      'workloads forecast',
      'workloads migrations',
      'workloads restart-required',
      'workloads strategy show',
      'workloads live-update show',
      'history',
      'upgrade',
      ...(scenario.cluster.openshift ? eus : []),
    ].map((line) => line.split(' ')),
  ]
}

/** Before something rolls nothing is seen of these. */
const ofNewPods = new Set([
  'unpullable',
  'denied',
  'crashing',
  'unschedulable',
  'blipAfterReady',
  'moreHandlerRolls',
])

/** Before its own line is typed such a cluster, of whatever size, was looked at already. */
const looked = new Set<string>()
function isFirstOf({ cluster, faults = {} }: Scenario): boolean {
  const { kubernetes: _, workers: __, vms, openshift, ...rest } = cluster
  const shape = JSON.stringify([
    Object.keys(rest).toSorted(),
    [typeof vms, openshift?.flavour],
    Object.entries(faults).filter(([name]) => !ofNewPods.has(name)),
  ])
  const isFirst = !looked.has(shape)
  looked.add(shape)
  return isFirst
}

/** Most of those that end early fail as a row of stall-catalogue.test.ts does, where all that is printed is pasted: some of them are drawn by the seed. */
const early = scenarios.filter((scenario) => 'upgrade' in scenario && scenario.faults !== undefined)
const left = new Set(isEvery ? [] : shuffled(early, ({ name }) => name).slice(4))
const drawn = scenarios.filter((scenario) => !left.has(scenario))

describe.each(drawn.map((scenario) => [scenario.name, scenario] as const))('%s', (_name, scenario) => {
  test('every line that is printed works, is safe or says what it does, and is not the one that was typed', async () => {
    const cluster = await played(scenario)
    try {
      const before = isFirstOf(scenario) ? looksAt(scenario) : []
      for (const argv of before) await cluster.paste((await cluster.run(argv)).lines)
      const { lines } = await cluster.run(lineOf(scenario))
      cluster.forget()
      await cluster.paste(lines)
      for (const argv of looksAt(scenario)) await cluster.paste((await cluster.run(argv)).lines)
      cluster.judgeLooks()
      expect(cluster.wrong).toEqual([])
    } finally {
      await cluster.simulated.stop()
    }
  })
})

/** Not printed as they stand: what others put the rest to, what reads or recognises a line, and the role that a person binds by name. */
const parts: ReadonlySet<string> = new Set([
  'kvup workloads restart',
  'virtctl restart',
  'kubectl kvup',
  'kubectl get',
])
const apart = /(?:vms\/waves\/wave-run|upgrade\/roles|kvup-words|command-line)\.ts$/u

/** Commands in the texts of the source, as far as they are one literal; what is put into them is `x`. */
const literals = globSync('src/lib/**/*.ts').flatMap((file) =>
  [
    ...readFileSync(file, 'utf8')
      .replaceAll(/\/\*\*.*?\*\/|^\s*\/\/.*$/gmsu, '')
      .matchAll(
        /(['"`])(?<line>(?:kvup|kubectl|oc|virtctl|opm|etcdctl|skopeo|crictl) (?:(?!\1)[^\n\\]|\\.)*)\1/gu,
      ),
  ].flatMap(({ groups }) => {
    const line = (groups?.['line'] ?? '').replaceAll(/\$\{[^}]*\}/gu, 'x').replaceAll('\\', '')
    const [command = '', ...says] = line.split(/ {3,}/u)
    const isWhole =
      !/[,:] /u.test(command) &&
      /^\w+ (?:-|[a-z]+(?:\s|$))/u.test(command) &&
      !/ x{1,2}(?:get)?(?: x+)*(?: -o yaml| --show-managed-fields)*$|\$\{/u.test(command)
    return isWhole && !parts.has(command.trim()) && !apart.test(file)
      ? [{ file, command, says: says.join(' ') }]
      : []
  }),
)

test('no command in the source has a word to be replaced, or a verb or a flag that its tool does not have', () => {
  expect(literals.length).toBeGreaterThan(200)
  const wrong = literals.flatMap(({ file, command }) => {
    const why = unpasteable(command)
    return why === undefined ? [] : [`${file}: ${command}: ${why}`]
  })
  expect(wrong).toEqual([])
})

test('no command in the source does harm without saying so beside it', () => {
  const wrong = literals.flatMap(({ file, ...line }) => {
    const harm = unsaidHarm(line)
    return harm === undefined ? [] : [`${file}: ${line.command} # ${line.says}: ${harm}`]
  })
  expect(wrong).toEqual([])
})

test.each([
  ['kubectl delete node worker-1', 'kubectl -n a delete vmi b', 'virtctl restart a -n b', 'virtctl stop a'],
  ['kvup upgrade --to v1.7.4 --accept downgrade', "kvup workloads restart --accept 'data-loss=tested'"],
  [
    'kvup workloads update --restart-unmigratable',
    'kvup workloads restart',
    'kvup workloads resume-updates --keep-current',
  ],
])('a line that does harm without a word would be found', (...lines) => {
  for (const command of lines) {
    expect([command, unsaidHarm({ command, says: '' })]).not.toEqual([command, undefined])
    expect(unsaidHarm({ command, says: 'stops the guest; what its pod holds is lost' })).toBeUndefined()
  }
})

test('a word that says no harm is none', () => {
  expect(unsaidHarm({ command: 'virtctl restart a -n b', says: 'helps' })).toBe('it ends a guest')
})

test('what is no line to paste would be found', () => {
  expect(placeholderIn('kvup upgrade --to VERSION')).toBe('VERSION')
  expect(placeholderIn('kvup workloads restart -l KEY=VALUE')).toBe('KEY=VALUE')
  expect(placeholderIn('kubectl get pods <name>')).toBe('<name>')
  expect(
    placeholderIn("kubectl get vmi -A -o custom-columns=NAMESPACE:.metadata.namespace,WHY:'.status'"),
  ).toBeUndefined()
  expect(unpasteable('virtctl evacuate-cancel a')).toContain('takes 2 to 2 words')
  expect(unpasteable('oc adm upgrade channel')).toContain('takes 1 to 1 words')
  expect(refusedBy(['oc', 'adm', 'upgrade', '--clera'])).toContain('no --clera')
  expect(refusedBy(['oc', 'frobnicate'])).toContain('no such verb')
  expect(refusedBy(['virtctl', '-n', 'a', 'restart', 'b'])).toBeUndefined()
})

test('lines behind an arrow, behind a label and two on a line are found, and prose with one inside is', () => {
  const text = `
Next: kvup upgrade --to v1.8.4        Details: kvup check --to v1.8.4
     kubectl describe node a        # repair it
  -> kvup history     shows it
12 outdated: 12 migrate -> kvup workloads migrations
kvup has changed nothing here`
  expect(nextLinesIn(text)).toEqual([
    { command: 'kvup upgrade --to v1.8.4', says: '' },
    { command: 'kvup check --to v1.8.4', says: '' },
    { command: 'kubectl describe node a', says: 'repair it' },
    { command: 'kvup history', says: 'shows it' },
    { command: 'kvup workloads migrations', says: '' },
  ])
  expect(() => nextLinesIn('  -> find out by kubectl get pods')).toThrow('in the middle of prose')
})
