import type { RunEvent } from '../../procedure/events.ts'

/** Parts by the ids of their steps, in their order; a step that fits none belongs to the part before it. */
const parts: readonly (readonly [fits: RegExp, name: (id: string) => string])[] = [
  [/^(?:launchers-current|keep-baseline|keep-way|hold-workload-updates)$/u, () => 'workload updates held'],
  [/^pause-|^approval$/u, () => 'pools paused'],
  [
    /^(?:gate-platform|operator-way|channel|request|accepted|platform|control-plane)-\d/u,
    (id) => `platform ${stopIn(id)}`,
  ],
  [/^gate-\d+\.\d+$/u, (id) => `platform ${minorIn(id)}`],
  [/^operator-(?:releases-|channel-)?\d+\.\d+/u, (id) => `virtualization ${minorIn(id)}`],
  [/^(?:settled|forecast|give-back-workload-updates)$/u, () => 'workload updates given back'],
  [/^(?:room|unpause|rolled)-/u, () => 'pools unpaused'],
]

const minorIn = (id: string): string => /\d+\.\d+/u.exec(id)?.[0] ?? ''

/** A hop that ends at a release and not at its minor is told by it: `4.18.21`, `4.19.0-okd-scos.16`. */
const stopIn = (id: string): string => /\d+\.\d.*$/u.exec(id)?.[0] ?? ''

/** The part that each step belongs to, as people name it; empty for what comes before the first that is known. */
export function partNames(ids: readonly string[]): readonly string[] {
  const names: string[] = []
  for (const [at, id] of ids.entries()) names.push(nameOf(id, names.at(-1) ?? '', ids.slice(at + 1)))
  return names
}

function nameOf(id: string, before: string, behind: readonly string[]): string {
  const named = parts.find(([fits]) => fits.test(id))?.[1](id)
  return named ?? (isOperators(id) ? operatorsName(behind) : undefined) ?? before
}

/** Steps of a hop of the operator bear its version. */
const isOperators = (id: string): boolean => /-\d+\.\d+\.\d+/u.test(id)

/** They come before the step that says which minor of the platform the operator is of. */
function operatorsName(behind: readonly string[]): string | undefined {
  const end = behind.find((id) => /^operator-\d+\.\d+$/u.test(id))
  return end && `virtualization ${minorIn(end)}`
}

/** The same event, its steps with the parts that they are of: a terminal has a line for each part. */
export function withParts(event: RunEvent): RunEvent {
  if (event.kind !== 'run-started' && event.kind !== 'steps-known') return event
  const names = partNames(event.steps.map(({ id }) => id))
  const steps = event.steps.map((step, at) => ({ ...step, ...(names[at] && { part: names[at] }) }))
  return { ...event, steps }
}
