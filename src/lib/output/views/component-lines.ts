import type { ComponentStanding } from '../../facts/component-standing.ts'
import type { StatusReport } from '../../facts/status-report.ts'
import type { Column, Paint, Size, Tone } from '../printer.ts'
import { table } from '../table.ts'

type Components = Pick<StatusReport, 'components' | 'verdict'>

/** Below this many columns each component has lines of its own. */
const roomForTable = 60

/** The components in their order: a table, or below each name what the table would say. */
export function componentLines({ components = [], verdict }: Components, paint: Paint, size: Size): string[] {
  if (size.columns >= roomForTable) return table(columns(verdict), components, { ...size, paint })
  return components.flatMap((component) => [component.name, `  ${inWords(component, verdict, paint)}`])
}

function inWords(component: ComponentStanding, verdict: Components['verdict'], paint: Paint): string {
  const { updated, ready, desired, version, state } = component
  const tone = stateTones[state]
  const said = stateText(component)
  return [
    `${updated}/${desired} updated`,
    `${ready}/${desired} ready`,
    ...(version === undefined ? [] : [version]),
    ...(verdict === 'Settled' ? [] : [tone === undefined ? said : paint[tone](said)]),
  ].join(', ')
}

function columns(verdict: Components['verdict']): Column<ComponentStanding>[] {
  return [
    { name: 'COMPONENT', cell: ({ name }) => name },
    { name: 'UPDATED', cell: ({ updated, desired }) => `${updated}/${desired}` },
    { name: 'READY', cell: ({ ready, desired }) => `${ready}/${desired}` },
    { name: 'VERSION', cell: ({ version }) => version },
    ...(verdict === 'Settled' ? [] : [stateColumn]),
    { name: 'IMAGE', cell: ({ image }) => image, wide: true },
  ]
}

const stateTones: Partial<Record<ComponentStanding['state'], Tone>> = {
  current: 'good',
  stalled: 'bad',
  absent: 'warn',
}

const stateColumn: Column<ComponentStanding> = {
  name: 'STATE',
  holds: 'text',
  cell: stateText,
  tone: ({ state }) => stateTones[state],
}

function stateText({ state, rolled, detail }: ComponentStanding): string {
  const word = rolled && state === 'rolling' ? 'not ready' : state
  return detail ? `${word}: ${detail}` : word
}
