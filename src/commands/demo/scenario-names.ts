import { scenarios } from '../../simulator/scenarios.ts'

/** For completion: what `--scenario` takes. */
export function scenarioNames(): { value: string; description: string }[] {
  const all = scenarios.map(({ name, title }) => ({ value: name, description: title }))
  return [...all, { value: 'list', description: 'show them all' }]
}
