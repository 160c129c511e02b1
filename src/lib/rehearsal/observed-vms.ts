import { isRunning } from './cluster-twin.ts'
import { type Event, Events } from '../kube/kinds/core-kinds.ts'
import {
  type VirtualMachineInstance,
  type VirtualMachineInstanceMigration,
  VirtualMachineInstanceMigrations,
  VirtualMachineInstances,
} from '../kube/kinds/kubevirt-kinds.ts'
import type { Store } from '../../simulator/api/store.ts'
import { uidInCluster } from '../../simulator/seeded-vms.ts'
import { isAutomatic, migrationOf, vmOf } from '../vms/migrations/migration.ts'
import { vmName } from '../vms/vm.ts'
import type { Attempted, RehearsedVm } from './rehearsal.ts'

interface Attempt {
  tries: Attempted
  begins: number
  ends: number
}

/** What KubeVirt tries with the VMs of a simulated cluster, from its construction on. */
export class ObservedVms {
  readonly #store: Store
  readonly #first = new Map<string, Pick<RehearsedVm, 'uid' | 'launcher'> & { image: string }>()
  readonly #images = new Map<string, string>()
  readonly #running = new Map<string, number>()
  readonly #attempts = new Map<string, Attempt[]>()
  readonly #open = new Map<string, Attempt>()
  readonly #leave: readonly (() => void)[]

  constructor(store: Store) {
    this.#store = store
    for (const vmi of store.list(VirtualMachineInstances).items) {
      this.#instance('ADDED', vmi)
      if (isRunning(vmi)) this.#first.set(vmName(vmi), { ...inCluster(vmi), image: imageOf(vmi) })
    }
    this.#leave = [
      store.watch(VirtualMachineInstances, ({ type, object }) => this.#instance(type, object)),
      store.watch(VirtualMachineInstanceMigrations, ({ type, object }) => this.#migration(type, object)),
      store.watch(Events, ({ type, object }) => type === 'ADDED' && this.#event(object)),
    ]
  }

  stop(): void {
    for (const leave of this.#leave) leave()
  }

  /** Running VMs on another virt-launcher than the one that KubeVirt gives to new ones. */
  outdated(image: string): number {
    return this.#images.size - (this.#running.get(image) ?? 0)
  }

  /**
   * Every VM that ran at the beginning, in the order of namespace and name. `image`: of new virt-launchers; `began`: ms since the epoch; `isThrough`: the upgrade reached its
   * end. Where it did not, a VM that runs what it ran at the beginning was not updated, though KubeVirt may give the same to new ones.
   */
  vms(image: string, began: number, isThrough = true): RehearsedVm[] {
    return Array.from([...this.#first].toSorted(byPlace), ([place, { image: before, ...identity }]) => {
      const [namespace = '', name = ''] = place.split('/')
      const attempts = this.#attempts.get(place) ?? []
      const [first] = attempts
      const now = this.#images.get(place)
      return {
        namespace,
        name,
        ...identity,
        tries: (attempts.find(({ tries }) => tries !== 'evict-refused') ?? first)?.tries ?? 'nothing',
        becomes:
          now === undefined
            ? 'stopped'
            : now === image && (isThrough || now !== before)
              ? 'updated'
              : 'outdated',
        attempts: attempts.length,
        ...(first && {
          begins: wholeSeconds(began, first.begins),
          ends: wholeSeconds(began, Math.max(...attempts.map(({ ends }) => ends))),
        }),
      }
    })
  }

  #instance(type: string, vmi: VirtualMachineInstance): void {
    const place = vmName(vmi)
    const before = this.#images.get(place)
    const now = type !== 'DELETED' && isRunning(vmi) ? imageOf(vmi) : undefined
    if (before === now) return
    if (before !== undefined) this.#running.set(before, (this.#running.get(before) ?? 0) - 1)
    if (now === undefined) this.#images.delete(place)
    else {
      this.#images.set(place, now)
      this.#running.set(now, (this.#running.get(now) ?? 0) + 1)
    }
  }

  #migration(type: string, migration: VirtualMachineInstanceMigration): void {
    const { metadata, status } = migration
    const { uid = '' } = metadata
    const known = this.#open.get(uid)
    if (known === undefined && type === 'ADDED' && isAutomatic(migrationOf(migration))) {
      const attempt: Attempt = { tries: 'migrate', begins: this.#now(), ends: this.#now() }
      this.#open.set(uid, attempt)
      this.#add(vmOf(migrationOf(migration)), attempt)
    }
    if (known === undefined) return
    known.ends = this.#now()
    if (type === 'DELETED' || status?.phase === 'Succeeded' || status?.phase === 'Failed')
      this.#open.delete(uid)
  }

  #event({ reason, involvedObject }: Event): void {
    const tries = reason === undefined ? undefined : evictions[reason]
    if (tries === undefined) return
    const { namespace = '', name = '' } = involvedObject ?? {}
    const now = this.#now()
    this.#add(`${namespace}/${name}`, { tries, begins: now, ends: now })
  }

  #add(place: string, attempt: Attempt): void {
    this.#attempts.set(place, [...(this.#attempts.get(place) ?? []), attempt])
  }

  #now(): number {
    return this.#store.clock.now().getTime()
  }
}

const evictions: Readonly<Record<string, Attempted>> = {
  SuccessfulEvict: 'evict',
  FailedEvict: 'evict-refused',
}

const byPlace = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number =>
  a < b ? -1 : a > b ? 1 : 0

function inCluster({ metadata, status }: VirtualMachineInstance): Pick<RehearsedVm, 'uid' | 'launcher'> {
  const uid = uidInCluster(metadata.uid)
  const launcher = status?.launcherContainerImageVersion
  return { ...(uid !== undefined && { uid }), ...(launcher && { launcher }) }
}
const imageOf = ({ status }: VirtualMachineInstance): string => status?.launcherContainerImageVersion ?? ''
const wholeSeconds = (from: number, to: number): number => Math.round((to - from) / 1000)
