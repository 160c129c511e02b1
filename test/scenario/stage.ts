import { check, type CheckOptions } from '../../src/commands/check/check.ts'
import { type PauseOptions, pauseUpdates } from '../../src/commands/workloads/pause-updates.ts'
import {
  restoreSettings,
  restoreSettingsCommand,
  type RestoreSettingsOptions,
} from '../../src/commands/restore-settings.ts'
import { unblock, type UnblockOptions } from '../../src/commands/workloads/unblock.ts'
import { updateCommand } from '../../src/commands/workloads/update.ts'
import { update } from '../../src/commands/workloads/run-update.ts'
import type { UpdateOptions } from '../../src/lib/vms/waves/wave-run.ts'
import {
  type SetStrategyOptions,
  setWorkloadStrategy,
  showWorkloadStrategy,
} from '../../src/commands/workloads/strategy.ts'
import { type PlanOptions, showPlan, upgrade } from '../../src/commands/upgrade/upgrade.ts'
import type { UpgradeOptions } from '../../src/lib/upgrade/plan/upgrade-options.ts'
import type { Context } from '../../src/context.ts'
import type { Cluster } from '../../src/lib/kube/cluster.ts'
import { type Lease, Leases } from '../../src/lib/kube/kinds/core-kinds.ts'
import { type KubeVirt, KubeVirts, VirtualMachines } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { getInstallation } from '../../src/lib/kubevirt/installation.ts'
import { takeSnapshot } from '../../src/lib/kubevirt/snapshot.ts'
import { versionOf } from '../../src/lib/releases/release-versions.ts'
import { chooseMethod } from '../../src/lib/upgrade/upgrade-plan.ts'
import { asYaml } from '../../src/lib/manifests/apply-manifest.ts'
import type { Journal } from '../../src/lib/engine/journal.ts'
import type { RunEvent } from '../../src/lib/engine/step.ts'
import { configMapJournal } from '../../src/lib/engine/journal-config-map.ts'
import { type AuditRecord, isWrite } from '../../src/simulator/api/api-request.ts'
import type { Patch } from '../../src/simulator/api/patch.ts'
import { seeded } from '../../src/simulator/machinery/controller.ts'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import { ApiFaults, withFaults } from './api-faults.ts'
import type { SimulatedCluster, Simulation } from '../../src/simulator/simulated-cluster.ts'
import type { Clock } from '../../src/lib/kube/clock.ts'
import { type KvupError, KvupError as Foreseen } from '../../src/lib/kube/errors.ts'
import { methodsOf } from '../../src/lib/vms/update-methods.ts'
import { settled } from '../lib/settled.ts'
import { type Recorded, recordingPrinter } from './recording-printer.ts'

export const kvupUser = 'kubernetes-admin'
export const second = 1000
export const minute = 60 * second
const kubevirt = { name: 'kubevirt', namespace: 'kubevirt' }

/** One kvup process: where it runs, what it sees, who answers. */
export interface Terminal {
  cluster?: Cluster
  clock?: Clock
  signal?: AbortSignal
  host?: string
  pid?: number
  /** Pids of that host that live. */
  alive?: readonly number[]
  yes?: boolean
  /** What is answered where nobody said --yes. */
  answer?: (question: string) => Promise<boolean>
  /** What a person says who is asked in spite of --yes; nobody is there by default. */
  decide?: (question: string) => Promise<boolean>
  /** What a person at the terminal takes from a list; nobody is there by default. */
  choose?: (values: readonly string[], question: string) => readonly string[]
  /** The one that a person at the terminal takes from a list. */
  chooseOne?: (names: readonly string[], question: string) => string
  commandLine?: string
  /** `-o`; a table by default. */
  output?: string
  /** Told of every event as it happens. */
  onEvent?: (event: RunEvent) => void
}

/** How a command ended, and all that it said. */
export interface Ended extends Recorded {
  code: number
  error?: KvupError
  /** What it and the failure say, as one text. */
  text: string
  took: number
}

/** The KubeVirt CR at a time, ms since the epoch. */
type Frame = KubeVirt & { at: number }

/** A simulated cluster and kvup in front of it, in one process and on one clock. */
export type RestoreTyped = Partial<RestoreSettingsOptions> & { whats?: readonly string[] }

export class Stage {
  readonly clock: SimClock
  readonly simulated: SimulatedCluster
  readonly api: ApiFaults
  readonly files = new Map<string, string>()
  /** Every state that the KubeVirt CR was in since the play began. */
  readonly film: Frame[] = []
  readonly #defaults: UpgradeOptions
  #pids = 100

  constructor(clock: SimClock, simulated: SimulatedCluster, typed: Partial<UpgradeOptions> = {}) {
    this.#defaults = { ...defaults, ...typed }
    this.clock = clock
    this.simulated = simulated
    this.api = new ApiFaults(simulated.store)
    simulated.store.watch(KubeVirts, ({ object }) => {
      this.film.push({ at: this.now, ...(object as KubeVirt) })
    })
  }

  get cluster(): Cluster {
    return this.simulated.cluster()
  }

  /** The same cluster seen through the faults that are switched on in `api`. */
  get shaky(): Cluster {
    return withFaults(this.cluster, this.api)
  }

  async upgrade(to: string | undefined, options: Partial<UpgradeOptions> = {}, terminal: Terminal = {}) {
    if (to !== undefined) this.files.set(`${to}.yaml`, asYaml(this.simulated.operatorManifest(to)))
    const typed: UpgradeOptions = {
      ...this.#defaults,
      ...(to !== undefined && { to }),
      ...(to !== undefined && (await this.#wantsManifest(to, options)) && { manifest: `${to}.yaml` }),
      ...options,
    }
    const isBare = to === undefined && options.plan === undefined
    return this.#run((cx) => upgrade(cx, typed), {
      ...(isBare && { commandLine: 'kvup upgrade' }),
      ...terminal,
    })
  }

  /** `kvup plan`, and the file that its YAML would be. */
  async plan(to: string, options: Partial<PlanOptions> = {}, terminal: Terminal = {}): Promise<Ended> {
    this.files.set(`${to}.yaml`, asYaml(this.simulated.operatorManifest(to)))
    const { timeout: _, pauseBefore: __, ...flags } = this.#defaults
    const typed: PlanOptions = {
      ...flags,
      to,
      toFile: 'plan.yaml',
      ...((await this.#wantsManifest(to, options)) && { manifest: `${to}.yaml` }),
      ...options,
    }
    return this.#run((cx) => showPlan(cx, typed), terminal)
  }

  /** `kvup check --to VERSION --manifest FILE`. */
  async check(to: string, options: Partial<CheckOptions> = {}, terminal: Terminal = {}): Promise<Ended> {
    const manifest = `${to}.yaml`
    this.files.set(manifest, asYaml(this.simulated.operatorManifest(to)))
    return this.#run((cx) => check(cx, { to, method: 'auto', accept: [], manifest, ...options }), terminal)
  }

  async restore({ whats, ...options }: RestoreTyped = {}, terminal: Terminal = {}) {
    const typed = { commandLine: 'kvup restore-settings', ...terminal }
    return this.#run((cx) => restoreSettings(cx, { ...restoreDefaults, ...options }, whats), typed)
  }

  async hold(options: Partial<PauseOptions> = {}, terminal: Terminal = {}) {
    return this.#run((cx) => pauseUpdates(cx, { accept: [], timeout: '5m', ...options }), terminal)
  }

  async strategy(options: Partial<SetStrategyOptions>, terminal: Terminal = {}) {
    return this.#run((cx) => setWorkloadStrategy(cx, { accept: [], timeout: '5m', ...options }), terminal)
  }

  async update(options: Partial<UpdateOptions> = {}, terminal: Terminal = {}) {
    const typed = { commandLine: 'kvup workloads update', ...terminal }
    return this.#run((cx) => update(cx, { ...updateDefaults, ...options }), typed)
  }

  async showStrategy(terminal: Terminal = {}) {
    return this.#run(showWorkloadStrategy, terminal)
  }

  /** Any command that is written as a function of a context. */
  async perform(command: (cx: Context) => Promise<number>, terminal: Terminal = {}): Promise<Ended> {
    return this.#run(command, terminal)
  }

  /** Of every VM that blocks. */
  async unblock(options: Partial<UnblockOptions> = {}, terminal: Terminal = {}) {
    return this.#run((cx) => unblock(cx, { all: true, accept: [], timeout: '10m', ...options }, []), terminal)
  }

  /** As a person would: the manifest is named where one will be applied. */
  async #wantsManifest(to: string, { method = 'auto', follow }: Partial<UpgradeOptions>): Promise<boolean> {
    if (follow) return false
    const found = getInstallation(
      await takeSnapshot(
        this.simulated.cluster({ user: 'stage', groups: ['system:masters'] }).reader,
        [],
        this.clock,
      ),
    )
    const version = versionOf(to)
    if (found.is !== 'one' || version === undefined) return true
    return chooseMethod(method, found, version) === 'operator-manifest'
  }

  /** Everything else than a foreseen failure is thrown. */
  async #run(command: (cx: Context) => Promise<number>, terminal: Terminal): Promise<Ended> {
    const { printer, recorded } = recordingPrinter(this.clock, terminal.onEvent, terminal.output === 'wide')
    const began = this.now
    const ended = (code: number, error?: KvupError): Ended => ({
      ...recorded,
      code,
      ...(error && { error }),
      text: [
        ...recorded.lines,
        error?.message ?? '',
        error?.object ?? '',
        ...(error?.notes ?? []),
        ...(error?.remedy ?? []),
      ].join('\n'),
      took: this.now - began,
    })
    try {
      return ended(await command(this.#context(terminal, printer)))
    } catch (error) {
      if (error instanceof Foreseen) return ended(error.exitCode, error)
      throw error
    }
  }

  #context(terminal: Terminal, printer: Context['printer']): Context {
    const { host = 'here', pid = ++this.#pids, alive = [], yes = true } = terminal
    const { signal = new AbortController().signal, clock = this.clock } = terminal
    const confirm = terminal.answer ?? (() => Promise.resolve(yes))
    const cluster = () => Promise.resolve(terminal.cluster ?? this.cluster)
    return {
      cluster,
      elsewhere: () => ({ cluster, clock }),
      clock,
      printer,
      prompt: {
        confirm,
        ...(terminal.decide && { decide: terminal.decide, isAttended: true }),
        ...chooser(terminal),
      },
      signal,
      flags: { output: terminal.output ?? 'table', headers: true, color: 'never', yes, verbosity: 0 },
      world: {
        who: `jane@${host}`,
        pid,
        host,
        machine: vmOf(host),
        version: '0.0.0-test',
        commandLine: terminal.commandLine ?? 'kvup upgrade --to the same',
        isAlive: (other) => alive.includes(other),
        env: {},
        readText: (file) => this.#read(file),
        writeText: async (file, text) => void this.files.set(file, text),
        readStdin: async () => '',
        scratchFile: (name) => `scratch/${name}`,
        randomSuffix: () => '0a1b2c3d',
      },
    }
  }

  async #read(file: string): Promise<string> {
    const text = this.files.get(file)
    if (text === undefined) throw Object.assign(new Error(`ENOENT: ${file}`), { code: 'ENOENT' })
    return text
  }

  get now(): number {
    return this.clock.now().getTime()
  }

  get kubevirt(): KubeVirt {
    const [found] = this.simulated.store.list(KubeVirts).items
    if (!found) throw new Error('no KubeVirt')
    return found
  }

  /** KubeVirt's namespace. */
  get home(): string {
    return this.kubevirt.metadata.namespace ?? ''
  }

  get methods(): readonly string[] {
    return methodsOf(this.kubevirt)
  }

  /** Who has the lock; empty when nobody has. */
  get holder(): string | undefined {
    const lease: Lease | undefined = this.simulated.store.read(Leases, { namespace: this.home, name: 'kvup' })
    return lease?.spec?.holderIdentity ?? undefined
  }

  get journal(): Journal {
    return configMapJournal(this.cluster, { namespace: this.home, who: 'test', clock: this.clock })
  }

  /** As a person, or another program, would. */
  edit(spec: object, by = 'kubectl-edit'): void {
    const patch = { type: 'merge', body: { spec } } as Patch
    this.simulated.store.patch(KubeVirts, this.kubevirt.metadata, patch, { manager: by })
  }

  label(metadata: object): void {
    this.simulated.store.patch(KubeVirts, kubevirt, { type: 'merge', body: { metadata } })
  }

  /** Starts a VM and waits until it runs. */
  async start(name: string): Promise<void> {
    const call = { name: 'start', method: 'PUT', body: {} } as const
    const kind = { ...VirtualMachines, apiVersion: 'subresources.kubevirt.io/v1' }
    await this.cluster.writer.subresource(kind, { name, namespace: 'demo' }, call)
    await this.until(minute)
  }

  /** kvup's own requests so far; `since` is an index of the audit log. */
  requests(since = 0): AuditRecord[] {
    return this.simulated.store.audit.slice(since).filter(({ user }) => user === kvupUser)
  }

  writes(since = 0): AuditRecord[] {
    return this.requests(since).filter(isWrite)
  }

  /** Where the audit log stands. */
  get mark(): number {
    return this.simulated.store.audit.length
  }

  /** Not waited for. */
  later(ms: number, work: () => void): void {
    void this.clock.sleep(ms).then(work)
  }

  async until(ms: number): Promise<void> {
    await this.clock.sleep(ms)
  }

  stop(): Promise<void> {
    return this.simulated.stop()
  }
}

const chooser = ({ choose, chooseOne }: Terminal): Partial<Context['prompt']> => ({
  ...(choose && {
    isAttended: true,
    chooseSome: async (question, choices) =>
      choose(
        choices.map(({ value }) => value),
        question,
      ),
  }),
  ...(chooseOne && {
    isAttended: true,
    chooseOne: async (question, choices) => {
      const answer = chooseOne(
        choices.map(({ name }) => name),
        question,
      )
      return choices.find(({ value }) => value === answer)?.value
    },
  }),
})

const defaults: UpgradeOptions = {
  method: 'auto',
  timeout: '60m',
  stableFor: '30s',
  pauseUpdates: true,
  migrations: 'wait',
  migrationsTimeout: '30m',
  accept: [],
  pauseBefore: [],
}

/** In tests a host is a machine of its own. */
const vmOf = (host: string): string => host.replaceAll(/[^0-9a-z]/gu, '0')

const restoreDefaults = restoreSettingsCommand(() => async () => undefined).opts<RestoreSettingsOptions>()
const updateDefaults = updateCommand(() => async () => undefined).opts<UpdateOptions>()

/** Small, so that a whole update costs little. */
export const byTag = {
  version: 'v1.7.0',
  operator: 'v1.8.4',
  method: 'image-tag',
  methods: ['LiveMigrate'],
  workers: 1,
  controlPlanes: 1,
} as const satisfies Partial<Simulation>
export const byManifest = {
  version: 'v1.8.4',
  methods: ['LiveMigrate'],
  workers: 1,
  controlPlanes: 1,
} as const satisfies Partial<Simulation>

const beginning = '2026-01-01T00:00:00Z'

/** Sets a cluster up, lets the test play on it, and takes it down. `typed`: with every upgrade that says nothing else. */
export async function play(
  shape: Omit<Simulation, 'clock'>,
  act: (stage: Stage) => Promise<void>,
  typed?: Partial<UpgradeOptions>,
): Promise<void> {
  const clock = new SimClock(beginning)
  const stage = new Stage(clock, await settled({ ...shape, clock }), typed)
  try {
    await act(stage)
  } finally {
    await stage.stop()
  }
}

/** For whom it is nothing how long an upgrade stays good: every simulated second costs. */
export const briefly = (
  shape: Omit<Simulation, 'clock'>,
  act: (stage: Stage) => Promise<void>,
): Promise<void> => play(shape, act, { stableFor: '5s' })

/** The same from its installation on: for what is timed to the second. */
export const playAnew = (shape: Omit<Simulation, 'clock'>, act: (stage: Stage) => Promise<void>) =>
  briefly({ ...shape, random: seeded(1) }, act)
