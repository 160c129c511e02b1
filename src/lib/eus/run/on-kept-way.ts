import type { KeptWay } from '../steps/kept-way.ts'
import { asSealed, withPath } from './sealed-hops.ts'
import type { EusWindow } from './window.ts'

/**
 * An open window goes on to the releases that were chosen when it was opened, unless a file that was typed now says others. What was installed beside the path
 * has left it, and is judged by what is seen.
 */
export function onKeptWay(
  window: EusWindow,
  kept: KeptWay | undefined,
  typed: { graphFile?: string; catalogFile?: string },
): EusWindow {
  if (kept === undefined) return window
  const document = { hops: kept.hops }
  const hops = typed.graphFile === undefined ? asSealed(window.hops, document) : window.hops
  return withPath({ ...window, hops }, typed.catalogFile === undefined ? keptPath(window, kept) : undefined)
}

/** Where it leads further than what is seen. */
function keptPath(
  { plan: { operator } }: EusWindow,
  { operator: { path } }: KeptWay,
): readonly string[] | undefined {
  const at = path.indexOf(operator?.csv ?? '')
  const ahead = at < 0 ? 0 : path.length - at
  return ahead > 0 && ahead >= (operator?.path?.length ?? 0) ? path : undefined
}
