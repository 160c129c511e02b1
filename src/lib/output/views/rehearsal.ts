import type { Rehearsal, RehearsedStage, RehearsedVm } from '../../rehearsal/rehearsal.ts'
import type { Column, Paint, Size, View } from '../printer.ts'
import { spanText } from '../../kube/duration.ts'
import { table } from '../table.ts'
import { wrap } from '../text.ts'

/** The verdict first, then the stages, the VMs, and what the twin cannot show. */
export const rehearsalView: View<Rehearsal> = {
  text: (document, paint, size) => [
    ...headLines(document, paint),
    '',
    ...(document.stages.length > 0 ? [...table(columns, document.stages, { ...size, paint }), ''] : []),
    ...vmLines(document, size),
    ...missingLines(document, size),
    ...nextLines(document, paint),
  ],
  names: ({ to }) => [`rehearsal/${to}`],
}

const seconds = (count: number): string => spanText(count * 1000)

function headLines(document: Rehearsal, paint: Paint): string[] {
  const { from, to, outcome, upgradeSeconds = 0, vmUpdateSeconds, twin, faults } = document
  const what = `KubeVirt ${from} → ${to}`
  const vms = vmUpdateSeconds === undefined ? '' : `, then its VMs in ${seconds(vmUpdateSeconds)}`
  const head = {
    through: paint.good(
      `${paint.mark.done} Rehearsal: ${what} goes through in ${seconds(upgradeSeconds)}${vms}.`,
    ),
    stalls: paint.bad(`${paint.mark.failed} Rehearsal: ${what} stalls after ${seconds(upgradeSeconds)}.`),
    blocked: paint.bad(`${paint.mark.failed} Rehearsal: ${what} is blocked; the upgrade does not begin.`),
  }[outcome]
  return [
    head,
    ...(document.why ? [`  ${document.why.message}`] : []),
    `  Played on a twin: ${twin.nodes} nodes, ${twin.running} running VMs${faults ? `, with the fault ${faults.join(', ')}` : ''}. Nothing was changed.`,
  ]
}

const columns: readonly Column<RehearsedStage>[] = [
  { name: 'STAGE', cell: ({ name, hop }) => (hop === undefined ? name : `${hop} ${name}`) },
  { name: 'BEGINS', cell: ({ begins }) => seconds(begins) },
  { name: 'TAKES', cell: ({ takes }) => (takes === undefined ? 'does not end' : seconds(takes)) },
]

const tells: Readonly<Record<RehearsedVm['tries'], string>> = {
  migrate: 'KubeVirt tries to migrate',
  evict: 'KubeVirt shuts down',
  nothing: 'KubeVirt leaves alone',
}

/** So many names are told. */
const toldAtMost = 5

function vmLines({ vms, outcome }: Rehearsal, size: Size): string[] {
  if (vms.length === 0 || outcome === 'blocked') return []
  const lines = (['migrate', 'evict', 'nothing'] as const).flatMap((tries) => {
    const some = vms.filter((vm) => vm.tries === tries)
    if (some.length === 0) return []
    const names = some.slice(0, toldAtMost).map(({ namespace, name }) => `${namespace}/${name}`)
    const more = some.length - names.length
    const listed = tries === 'migrate' ? '' : `: ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
    return wrap(`${tells[tries]} ${some.length} of ${vms.length} VMs${listed}.`, size.columns)
  })
  const old = vms.filter(({ becomes }) => becomes === 'outdated').length
  const stay = old === 0 ? [] : [`${old} VMs stay on the old virt-launcher.`]
  return [...lines, ...stay, '']
}

function missingLines({ missing }: Rehearsal, size: Size): string[] {
  return [
    'Not in the twin, and so not shown:',
    ...missing.flatMap((one) => wrap(`  ${one}`, size.columns)),
    '',
  ]
}

function nextLines({ next }: Rehearsal, paint: Paint): string[] {
  return next.map((line) => `${paint.mark.next} ${line}`)
}
