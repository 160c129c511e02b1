import type { Paint, Size, View } from '../../printer.ts'
import { count, wrap } from '../../text.ts'
import { dryRunLines } from '../dry-run.ts'
import type { RestoredVm, UpdatesPausedDocument, RestoreDocument } from '../../../vms/unblock/restored-vms.ts'

export const updatesPausedView: View<UpdatesPausedDocument> = {
  text(held, paint, size) {
    const { outcome, kept, by, at, giveBack, steps = [], dryRun } = held
    if (outcome === 'rehearsed') return dryRunLines({ steps, mode: dryRun ?? 'client' }, paint, size)
    const fitted = (lines: readonly string[]) => lines.flatMap((line) => wrap(line, size.columns))
    if (outcome === 'nothing-to-hold')
      return fitted([
        'workloadUpdateMethods is empty already: KubeVirt moves no VM by itself, and kvup borrows nothing',
        `  ${paint.mark.next} kvup workloads strategy set --methods LiveMigrate     # turns workload updates on`,
      ])
    const since = outcome === 'already-held' ? ` by ${by ?? 'kvup'} since ${at ?? 'an unknown time'}` : ''
    return fitted([
      `${paint.mark.done} workload updates are held${since}; kept: ${kept.join(', ')}`,
      'hotplug of CPU, memory and networks and changes of volumes wait meanwhile',
      ...(giveBack === undefined ? [] : [`  ${paint.mark.next} ${giveBack}     # gives them back`]),
    ])
  },
  names: ({ owner }) => [`${owner.kind.toLowerCase()}.${owner.apiVersion.split('/')[0] ?? ''}/${owner.name}`],
}

export const restoreView: View<RestoreDocument> = {
  text(document, paint, size) {
    const { outcome, methods, owner, steps = [], dryRun = 'client', machines = [] } = document
    const now = methods.length > 0 ? methods.join(', ') : 'none'
    if (outcome === 'rehearsed') return dryRunLines({ steps, mode: dryRun }, paint, size)
    const below = vmLines(machines, paint, size)
    if (outcome === 'given-back')
      return [`${paint.mark.done} workload updates are given back and read back: ${now}`, ...below]
    if (outcome === 'left-as-it-is')
      return [`${paint.mark.done} left as they are (${now}); the loan is closed`, ...below]
    if (machines.length > 0 || outcome === 'not-asked') return below
    return [
      `nothing is borrowed; workloadUpdateMethods: ${now}`,
      ...(methods.length === 0
        ? [
            `kvup did not empty them and does not guess; set what is wanted on the ${owner.kind}:`,
            `  ${paint.mark.next} kvup workloads strategy set --methods LiveMigrate`,
          ]
        : []),
    ].flatMap((line) => wrap(line, size.columns))
  },
  names: ({ kubevirt }) => [`kubevirt.kubevirt.io/${kubevirt.name}`],
}

const shownAtMost = 20

function vmLines(machines: readonly RestoredVm[], paint: Paint, size: Size): string[] {
  const running = machines.flatMap(({ next }) => next ?? [])
  return [
    ...machines.slice(0, shownAtMost).map((vm) => vmLine(vm, paint)),
    ...(machines.length > shownAtMost ? [`and ${machines.length - shownAtMost} more (-o json)`] : []),
    ...(running.length > 0
      ? wrap(
          `${count(running.length, 'VM')} still run${running.length === 1 ? 's' : ''} with what was lent, until restarted:`,
          size.columns,
        )
      : []),
    ...running.slice(0, shownAtMost).map((command) => `  ${paint.mark.next} ${command}`),
  ].flatMap((line) => wrap(line, size.columns))
}

function vmLine({ namespace, name, outcome, changes, why = '' }: RestoredVm, { mark }: Paint): string {
  if (outcome === 'asks') return `${mark.warning} ${namespace}/${name}: ${why}`
  const done =
    outcome === 'closed' ? 'left as it is; the loan is closed' : changes.join(', ') || 'was back already'
  return `${mark.done} ${namespace}/${name}: ${done}`
}
