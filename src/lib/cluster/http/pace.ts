import { isLoopback } from './proxy-for.ts'

/** Of a cluster in a kubeconfig, where `kvup demo --serve` says how fast its time runs: `{speed: 60}`. */
export const paceExtension = 'kvup.io/pace'

/** As a kubeconfig has them. */
export interface Extension {
  name?: string
  extension?: unknown
}

/** Undefined where nothing is said, and of any cluster but one on this machine: no other has a time of its own. */
export function paceOf(
  server: string,
  extensions: readonly Extension[] | null | undefined,
): number | undefined {
  if (!URL.canParse(server) || !isLoopback(new URL(server).hostname)) return undefined
  const speed = speedIn(extensions)
  return typeof speed === 'number' && speed > 0 && speed <= 1000 ? speed : undefined
}

function speedIn(extensions: unknown): unknown {
  const found = Array.isArray(extensions) ? extensions.find(isPace) : undefined
  return isRecord(found?.extension) ? found.extension['speed'] : undefined
}

const isPace = (one: unknown): one is Extension => isRecord(one) && one['name'] === paceExtension

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null
