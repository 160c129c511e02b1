import type { Access } from '../../lib/kube/cluster.ts'
import type { Work } from '../run-change.ts'
import { placeOfVm } from '../../lib/vms/vm.ts'
import type { Used } from '../../lib/upgrade/roles.ts'
import { restartable } from '../../lib/vms/waves/vm-restart.ts'
import type { Context } from '../../context.ts'
import { nearest } from '../../lib/kube/text.ts'
import type { Wave, WaveRunWanted } from '../../lib/vms/waves/waves.ts'
import type { WaveRunDocument } from '../../lib/output/views/vms/wave-run.ts'
import type { RunOutcome } from '../../lib/engine/run-context.ts'
import { goesOn } from '../upgrade/run-report.ts'

/** What is in the namespaces of VMs. */
const ofVms: ReadonlySet<string> = new Set([
  'virtualmachines',
  'virtualmachineinstances',
  'virtualmachineinstancemigrations',
  'pods',
])

/** The same rights, asked for in these namespaces only: who may move the VMs of one need not be allowed to move all. Undefined: in all. */
export function narrowed(rights: Work['rights'], namespaces: readonly string[] | undefined): Work['rights'] {
  if (namespaces === undefined) return rights
  const within = (access: Access): Access[] =>
    access.namespace === undefined && ofVms.has(access.resource)
      ? namespaces.map((namespace) => ({ ...access, namespace }))
      : [access]
  return { ...rights, required: rights.required.flatMap(within) }
}

/** Where the VMs of a run are; undefined: it may be all namespaces. */
export function namespacesOf(
  vms: Iterable<string>,
  { namespace, partly }: { namespace: string | undefined; partly: boolean },
): readonly string[] | undefined {
  if (namespace !== undefined) return [namespace]
  if (!partly) return undefined
  return [...new Set([...vms].map((vm) => placeOfVm(vm).namespace))]
}

/** To ask virt-api for the restart of a VM. */
export const restartRight: Used = { kind: restartable, verb: 'update', subresource: 'restart' }

/** `--waves` may name what is done already, so that the same line goes on: told, and not refused. */
export function warnOfWaves(
  { printer }: Pick<Context, 'printer'>,
  { waves: { first } }: Pick<WaveRunWanted, 'waves'>,
  waves: readonly Wave[],
): void {
  const there = waves.flatMap(({ value }) => value ?? [])
  const without = first.filter((name) => !there.includes(name))
  if (without.length === 0 || waves.length === 0) return
  const others = there.filter((name) => !first.includes(name))
  const meant = without.map((name) => ({ name, near: nearest(name, others) }))
  const words = meant.map(({ name, near }) => (near === undefined ? name : `${name} (did you mean ${near}?)`))
  printer.warn(`no VM that is left is in these waves of --waves: ${words.join(', ')}`)
}

/** How a run of waves ended, in the fields of its document. */
type RunEnd = Pick<WaveRunDocument, 'outcome' | 'stoppedBefore' | 'next'>

/** `borrowed`: commands that give back what is held meanwhile. */
export function endOfRun({ world }: Context, outcome: RunOutcome, borrowed: readonly string[]): RunEnd {
  if (outcome.is === 'nothing-to-do') return { outcome: 'nothing-to-do' }
  if (outcome.is === 'finished') return { outcome: 'done' }
  const { step, because } = outcome
  return {
    outcome: 'stopped',
    stoppedBefore: { step: step.id, because: `--${because}` },
    next: [goesOn(world.commandLine), ...borrowed],
  }
}
