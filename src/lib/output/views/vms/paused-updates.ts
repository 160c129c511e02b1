import type { Column, Paint, Size, View } from '../../printer.ts'
import { count, wrap } from '../../text.ts'
import { dryRunLines } from '../dry-run.ts'
import type { RestoreDocument, RestoredVm, UpdatesPausedDocument } from '../../../vms/unblock/restore-vms.ts'
import { table } from '../../table.ts'
import type { UnblockDocument, UnblockItem } from '../../../vms/unblock/unblock-vms.ts'

export const updatesPausedView: View<UpdatesPausedDocument> = {
  text(paused, paint, size) {
    const { outcome, kept, by, at, restore, steps = [], dryRun } = paused
    if (outcome === 'dry-run') return dryRunLines({ steps, mode: dryRun ?? 'client' }, paint, size)
    const fitted = (lines: readonly string[]) => lines.flatMap((line) => wrap(line, size.columns))
    if (outcome === 'nothing-to-pause')
      return fitted([
        'automatic VM updates are off already: KubeVirt moves no VM, and kvup changed nothing',
        `  ${paint.mark.next} kvup workloads strategy set --methods LiveMigrate     # turns automatic VM updates on`,
      ])
    const since = outcome === 'already-paused' ? ` by ${by ?? 'kvup'} since ${at ?? 'an unknown time'}` : ''
    return fitted([
      `${paint.mark.done} automatic VM updates are paused${since}; saved: ${kept.join(', ')}`,
      'VMs run on; drains and manual migrations still move them. Hotplug and volume changes wait',
      ...(restore === undefined ? [] : [`  ${paint.mark.next} ${restore}     # resumes them`]),
    ])
  },
  names: ({ owner }) => [`${owner.kind.toLowerCase()}.${owner.apiVersion.split('/')[0] ?? ''}/${owner.name}`],
}

export const restoreView: View<RestoreDocument> = {
  text(document, paint, size) {
    const { outcome, methods, owner, steps = [], dryRun = 'client', vms = [] } = document
    const now = methods.length > 0 ? methods.join(', ') : 'none'
    if (outcome === 'dry-run') return dryRunLines({ steps, mode: dryRun }, paint, size)
    const below = vmLines(vms, paint, size)
    if (outcome === 'restored')
      return [`${paint.mark.done} automatic VM updates are resumed: ${now}`, ...below]
    if (outcome === 'left-as-it-is')
      return [`${paint.mark.done} not changed (${now}); the saved value is forgotten`, ...below]
    if (vms.length > 0 || outcome === 'not-asked') return below
    return [
      `there is no temporary change; workloadUpdateMethods: ${now}`,
      ...(methods.length === 0
        ? [
            `kvup did not turn them off. To turn them on, on the ${owner.kind}:`,
            `  ${paint.mark.next} kvup workloads strategy set --methods LiveMigrate`,
          ]
        : []),
    ].flatMap((line) => wrap(line, size.columns))
  },
  names: ({ kubevirt }) => [`kubevirt.kubevirt.io/${kubevirt.name}`],
}

const shownAtMost = 20

function vmLines(vms: readonly RestoredVm[], paint: Paint, size: Size): string[] {
  const running = vms.flatMap(({ next }) => next ?? [])
  return [
    ...vms.slice(0, shownAtMost).map((vm) => vmLine(vm, paint)),
    ...(vms.length > shownAtMost ? [`and ${vms.length - shownAtMost} more (-o json)`] : []),
    ...(running.length > 0
      ? wrap(
          `${count(running.length, 'VM')} still run${running.length === 1 ? 's' : ''} with the temporary settings until restarted:`,
          size.columns,
        )
      : []),
    ...running.slice(0, shownAtMost).map((command) => `  ${paint.mark.next} ${command}`),
  ].flatMap((line) => wrap(line, size.columns))
}

function vmLine({ namespace, name, outcome, changes, why = '' }: RestoredVm, { mark }: Paint): string {
  if (outcome === 'asks') return `${mark.warning} ${namespace}/${name}: ${why}`
  const done =
    outcome === 'closed'
      ? 'not changed; the saved value is forgotten'
      : changes.join(', ') || 'was restored already'
  return `${mark.done} ${namespace}/${name}: ${done}`
}

const words: Record<UnblockItem['outcome'], string> = {
  unblocked: 'unblocked',
  'would-unblock': 'blocks',
  'already-unblocked': 'unblocked before',
  'not-blocking': 'does not block',
  refused: 'refused',
}

const columns: readonly Column<UnblockItem>[] = [
  { name: 'NAMESPACE', cell: ({ namespace }) => namespace },
  { name: 'VM', cell: ({ name }) => name },
  {
    name: 'OUTCOME',
    cell: ({ outcome }) => words[outcome],
    tone: ({ outcome }) => (outcome === 'refused' ? 'bad' : outcome === 'unblocked' ? 'good' : undefined),
  },
  { name: 'CHANGED', holds: 'text', cell: ({ changes, why }) => changes?.join(', ') ?? why },
]

export const unblockView: View<UnblockDocument> = {
  text: ({ items, bare = [], steps, dryRun, restore }, paint, size) => [
    ...(items.length > 0 ? table(columns, items, { ...size, paint }) : ['no VM blocks a drain or an update']),
    ...(steps && dryRun ? ['', ...dryRunLines({ steps, mode: dryRun }, paint, size)] : []),
    ...bareLines(bare, paint, size),
    ...(restore === undefined ? [] : nextLines({ items, restore }, paint, size)),
  ],
  names: ({ items }) => items.map(({ name }) => `virtualmachine.kubevirt.io/${name}`),
}

function bareLines(
  bare: NonNullable<UnblockDocument['bare']>,
  paint: Paint,
  { columns: width }: Size,
): string[] {
  if (bare.length === 0) return []
  const names = bare.slice(0, 3).map(({ namespace, name }) => `${namespace}/${name}`)
  const text = `${count(bare.length, 'VMI')} without a VM cannot be unblocked, and are lost once deleted: ${names.join(', ')}${bare.length > 3 ? ', …' : ''}`
  return wrap(paint.warn(`${paint.mark.warning} ${text}`), width)
}

const unblockedShown = 10

/** Nothing is restarted here: when, is for a person to say. */
function nextLines(
  { items, restore }: { items: readonly UnblockItem[]; restore: string },
  paint: Paint,
  { columns: width }: Size,
): string[] {
  const restarts = items.flatMap(({ next }) => next ?? [])
  if (restarts.length === 0) return []
  return [
    '',
    ...wrap(
      'takes effect when the VM is restarted; until then it is RestartRequired, and hotplug waits:',
      width,
    ),
    ...restarts.slice(0, unblockedShown).map((command) => `  ${paint.mark.next} ${command}`),
    ...(restarts.length > unblockedShown ? [`  and ${restarts.length - unblockedShown} more (-o json)`] : []),
    ...wrap('to restore the original settings:', width),
    `  ${paint.mark.next} ${restore}`,
  ]
}
