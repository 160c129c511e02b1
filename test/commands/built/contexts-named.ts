import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Served } from './simulated.ts'

/** Path of a kubeconfig for the same cluster, with a context of each of these names. */
export function contextsNamed(names: readonly string[], { kubeconfig, folder }: Served): string {
  const config = JSON.parse(readFileSync(kubeconfig, 'utf8')) as { contexts: { context: object }[] }
  const context = config.contexts[0]?.context
  const file = join(folder, 'other-contexts')
  writeFileSync(file, JSON.stringify({ ...config, contexts: names.map((name) => ({ name, context })) }))
  return file
}
