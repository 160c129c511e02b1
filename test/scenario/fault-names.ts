import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const simulator = fileURLToPath(new URL('../../src/simulator/', import.meta.url))
const source = (path: string) => readFileSync(`${simulator}${path}`, 'utf8')
const ofApi = readFileSync(new URL('api-faults.ts', import.meta.url), 'utf8')

/** Of every interface that such a file exports and that is named so: what can be switched on. */
function faultsIn(text: string): string[] {
  const bodies = [...text.matchAll(/^export interface \w+Faults\b[^{]*\{([\s\S]*?)\n\}/gm)]
  return bodies.flatMap(([, body = '']) => [...body.matchAll(/^ {2}(\w+)\?:/gm)].map(([, name = '']) => name))
}

/**
 * Every fault that the code knows, as it is written there: of the layers (machinery, operator, OLM, HyperConverged, platform) by name, in whichever
 * file they are declared; of the API by what it `is`.
 */
export function faultNames(): string[] {
  const api = /export type ApiFault =([\s\S]*?)\n\n/.exec(ofApi)?.[1] ?? ''
  return [
    ...globSync('**/*.ts', { cwd: simulator }).flatMap((file) => faultsIn(source(file))),
    ...[...api.matchAll(/readonly is: '([^']+)'/g)].map(([, is = '']) => is),
  ]
}
