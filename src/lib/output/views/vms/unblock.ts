import { count, wrap } from '../../text.ts'
import type { Column, Paint, Size, View } from '../../printer.ts'
import { table } from '../../table.ts'
import { dryRunLines } from '../dry-run.ts'
import type { UnblockItem, UnblockDocument } from '../../../vms/unblock/unblock-candidates.ts'

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
  text: ({ items, bare = [], steps, dryRun, giveBack }, paint, size) => [
    ...(items.length > 0 ? table(columns, items, { ...size, paint }) : ['no VM blocks a drain or an update']),
    ...(steps && dryRun ? ['', ...dryRunLines({ steps, mode: dryRun }, paint, size)] : []),
    ...bareLines(bare, paint, size),
    ...(giveBack === undefined ? [] : nextLines({ items, giveBack }, paint, size)),
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
  const text = `${count(bare.length, 'VMI')} without a VM: nothing can be lent, and once deleted it is gone for good: ${names.join(', ')}${bare.length > 3 ? ', …' : ''}`
  return wrap(paint.warn(`${paint.mark.warning} ${text}`), width)
}

const shownAtMost = 10

/** Nothing is restarted here: when, is for a person to say. */
function nextLines(
  { items, giveBack }: { items: readonly UnblockItem[]; giveBack: string },
  paint: Paint,
  { columns: width }: Size,
): string[] {
  const restarts = items.flatMap(({ next }) => next ?? [])
  if (restarts.length === 0) return []
  return [
    '',
    ...wrap(
      'takes effect when the VM is restarted; until then RestartRequired is set, and hotplug waits:',
      width,
    ),
    ...restarts.slice(0, shownAtMost).map((command) => `  ${paint.mark.next} ${command}`),
    ...(restarts.length > shownAtMost ? [`  and ${restarts.length - shownAtMost} more (-o json)`] : []),
    ...wrap('what was there is given back by', width),
    `  ${paint.mark.next} ${giveBack}`,
  ]
}
