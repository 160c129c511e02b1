import type { Reader } from '../cluster/cluster.ts'
import type { Kind } from '../cluster/kind.ts'
import type { KubeObject } from '../cluster/object.ts'
import { condition } from '../cluster/object.ts'
import {
  type VirtualMachineInstance,
  VirtualMachineInstanceMigrations,
  VirtualMachineInstances,
  VirtualMachines,
} from '../cluster/kinds/virtual-machines.ts'
import { ApiError } from '../system/errors.ts'

/** Under 200 bytes a VM: what has to be the same after an upgrade (night U6). */
interface Mark {
  uid: string
  phase: string
  ready?: boolean
}

/** Known parts only: a kind that could not be read is named in `unread`, and nothing is claimed of it. */
export interface Census {
  instances: ReadonlyMap<string, Mark>
  restartRequired: ReadonlySet<string>
  volumes: ReadonlyMap<string, Mark>
  /** By uid; without those of KubeVirt's workload updater, which it repeats by itself. */
  migrations: ReadonlyMap<string, { vmi: string; phase: string }>
  unread: readonly string[]
}

interface Claim extends KubeObject {
  status?: { phase?: string }
}

const PersistentVolumeClaims: Kind<Claim> = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  plural: 'persistentvolumeclaims',
  namespaced: true,
}
const DataVolumes: Kind<Claim> = {
  apiVersion: 'cdi.kubevirt.io/v1beta1',
  kind: 'DataVolume',
  plural: 'datavolumes',
  namespaced: true,
}

/** On the migrations that KubeVirt's workload updater makes (facts 3.3). */
const updaterAnnotation = 'kubevirt.io/workloadUpdateMigration'

/** Reads VMIs, VMs, DataVolumes and claims page by page and keeps only the marks. */
export async function takeCensus(reader: Reader): Promise<Census> {
  const instances = new Map<string, Mark>()
  const restartRequired = new Set<string>()
  const volumes = new Map<string, Mark>()
  const migrations = new Map<string, { vmi: string; phase: string }>()
  const unread: string[] = []
  const fold = async <T extends KubeObject>(kind: Kind<T>, keep: (object: T) => void) => {
    try {
      for await (const page of reader.pages(kind)) for (const object of page.items) keep(object)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      if (error.status !== 404) unread.push(kind.plural)
    }
  }
  await Promise.all([
    fold(VirtualMachineInstances, (vmi) => instances.set(nameOf(vmi), markOf(vmi))),
    fold(VirtualMachines, (vm) => {
      if (condition(vm, 'RestartRequired')?.status === 'True') restartRequired.add(nameOf(vm))
    }),
    fold(VirtualMachineInstanceMigrations, ({ metadata, spec, status }) => {
      if (metadata.annotations?.[updaterAnnotation] !== undefined) return
      const vmi = `${metadata.namespace}/${spec?.vmiName}`
      migrations.set(metadata.uid ?? '', { vmi, phase: status?.phase ?? '' })
    }),
    fold(PersistentVolumeClaims, (claim) => volumes.set(`claim ${nameOf(claim)}`, volumeMark(claim))),
    fold(DataVolumes, (volume) => volumes.set(`DataVolume ${nameOf(volume)}`, volumeMark(volume))),
  ])
  return { instances, restartRequired, volumes, migrations, unread }
}

const nameOf = ({ metadata }: KubeObject) => `${metadata.namespace ?? ''}/${metadata.name}`

const volumeMark = ({ metadata, status }: Claim): Mark => ({
  uid: metadata.uid ?? '',
  phase: status?.phase ?? '',
})

function markOf(vmi: VirtualMachineInstance): Mark {
  return {
    uid: vmi.metadata.uid ?? '',
    phase: vmi.status?.phase ?? '',
    ready: condition(vmi, 'Ready')?.status === 'True',
  }
}
