import type { Scenario } from '../../lib/simulator/scenarios/scenario.ts'
import { shellWord } from '../../lib/system/shell-word.ts'

/** Where the files of a served demo lie, by their names. */
export type LaidDown = ReadonlyMap<string, string>

/** By the names of the files that a demo lays down. */
const flagsOf: Readonly<Record<string, string>> = {
  'graph.json': '--graph-file',
  'catalog.yaml': '--catalog-file',
  'kubevirt-operator.yaml': '--manifest',
}

/** What to begin with on a served demo: it asks or only reads, and needs nothing but what was laid down. */
export function firstLine(scenario: Scenario, laid: LaidDown): string {
  if ('update' in scenario) return 'kvup workloads outdated'
  const files = [...laid].flatMap(([name, file]) => [flagsOf[name] ?? '', shellWord(file)])
  if ('typed' in scenario) {
    const { command, args } = scenario.typed
    const words = command === 'eus run' ? ['eus plan', ...files] : [command, ...args.map(shellWord)]
    return ['kvup', ...words].join(' ')
  }
  const { to, method, flags = [] } = scenario.upgrade
  const by = method === 'operator-manifest' ? files : ['--method', method]
  return ['kvup upgrade --to', to, ...by, ...flags.map(shellWord)].join(' ')
}
