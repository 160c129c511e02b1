import { type VirtualMachine, VirtualMachines } from '../lib/kube/kinds/kubevirt-kinds.ts'
import { ownKey } from './own-keys.ts'
import { made } from './machinery/controller.ts'
import table from './cluster-parts.json' with { type: 'json' }

/** A VM of a simulated cluster. */
export interface VmShape {
  name: string
  /** Default `demo`. */
  namespace?: string
  /** Default `Always`. */
  runStrategy?: string
  /** Default `LiveMigrate`; `None` means no strategy. */
  evictionStrategy?: string
  /** Of the guest, `4Gi`: its launcher asks for that, and for what KubeVirt takes itself. Default: a small guest that asks for nothing. */
  memory?: string
  /** Of the VMI: which nodes it may run on. */
  nodeSelector?: Readonly<Record<string, string>>
  /** Reason of LiveMigratable=False. */
  notMigratable?: string
  /** It was given more cores while it ran: it needs a restart for them. */
  edited?: true
  /**
   * How its migrations go; default: they take three seconds. `fail-once`: the first that is kept. `split`: the launcher that it has left
   * does not end.
   */
  migration?: 'fail' | 'fail-once' | 'hang' | 'split' | `${number}s`
}

/** Annotations of a VMI that decide how it migrates here. */
export const outcomeAnnotations = {
  notMigratable: ownKey('not-migratable'),
  migration: ownKey('migration'),
} as const

export function virtualMachine(shape: VmShape): VirtualMachine {
  const { name, namespace = 'demo', runStrategy = 'Always', evictionStrategy = 'LiveMigrate' } = shape
  const { memory, nodeSelector, notMigratable, migration } = shape
  const annotations: Record<string, string> = {
    ...(notMigratable !== undefined && { [outcomeAnnotations.notMigratable]: notMigratable }),
    ...(migration !== undefined && { [outcomeAnnotations.migration]: migration }),
  }
  return made(VirtualMachines, {
    metadata: { name, namespace },
    spec: {
      runStrategy,
      template: {
        metadata: { labels: { 'kubevirt.io/vm': name }, annotations },
        spec: {
          evictionStrategy,
          ...(nodeSelector && { nodeSelector: { ...nodeSelector } }),
          domain: {
            cpu: { cores: 1, sockets: 1, threads: 1 },
            memory: { guest: memory ?? '128Mi' },
            ...(memory !== undefined && { resources: { requests: { memory } } }),
            devices: {},
          },
          volumes: structuredClone(table.volumes),
        },
      },
    },
  })
}

/** Ordinary VMs that migrate without trouble. */
export const defaultVms = (count: number): VmShape[] =>
  Array.from({ length: count }, (_, i) => ({ name: `web-${i + 1}` }))

/** One VM of every fate, as in the recorded workload update. */
export const mixedVms: readonly VmShape[] = [...defaultVms(6), ...(table.mixedVms as readonly VmShape[])]
