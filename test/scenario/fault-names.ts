import { readFileSync } from 'node:fs'

const source = (path: string) =>
  readFileSync(new URL(`../../src/lib/simulator/${path}`, import.meta.url), 'utf8')

function membersOf(text: string, name: string): string[] {
  const body = new RegExp(`interface ${name}\\b[^{]*\\{([\\s\\S]*?)\\n\\}`).exec(text)?.[1]
  if (body === undefined) throw new Error(`there is no interface ${name}`)
  return [...body.matchAll(/^ {2}(\w+)\?:/gm)].map(([, member = '']) => member)
}

/** Every fault that the code knows, as it is written there: of the machinery and the operator by name, of the API by what it `is`. */
export function faultNames(): string[] {
  const api = /export type ApiFault =([\s\S]*?)\n\n/.exec(source('faults.ts'))?.[1] ?? ''
  return [
    ...membersOf(source('machinery/faults.ts'), 'MachineryFaults'),
    ...membersOf(source('virt-operator/faults.ts'), 'OperatorFaults'),
    ...membersOf(source('olm/faults.ts'), 'OlmFaults'),
    ...membersOf(source('hyperconverged/faults.ts'), 'HyperConvergedFaults'),
    ...[...api.matchAll(/readonly is: '([^']+)'/g)].map(([, is = '']) => is),
  ]
}
