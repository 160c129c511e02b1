import { isFields } from '../../cluster/apply/field-path.ts'
import type { Journal, JournalReader } from '../../procedure/journal.ts'
import type { EusHop, EusPlan } from '../eus-plan.ts'

/** What was chosen for a window from a graph, a catalog or a sealed plan: whoever goes on without the files goes on to the same releases. As a plan has it. */
export interface KeptWay {
  hops: readonly { minor: string; platform: { version: string; image?: string } }[]
  operator: { path: readonly string[] }
}

/** What of a plan is known, and not only what is offered at present. Undefined where nothing is. */
export function wayToKeep({
  hops,
  plan,
}: {
  hops: readonly EusHop[]
  plan: Pick<EusPlan, 'operator'>
}): KeptWay | undefined {
  const known = hops.flatMap(({ minor, platform: { version, image, unproven } }) =>
    version === undefined || unproven
      ? []
      : [{ minor, platform: { version, ...(image !== undefined && { image }) } }],
  )
  const path = plan.operator?.path ?? []
  return known.length === 0 && path.length < 2 ? undefined : { hops: known, operator: { path } }
}

/** All of it is part of what is kept: hops that are behind are kept on. */
export function covers(kept: KeptWay | undefined, way: KeptWay): boolean {
  if (kept === undefined) return false
  const isKept = (hop: Hop) => kept.hops.some((one) => isSame(one, hop))
  return way.hops.every(isKept) && way.operator.path.every((csv) => kept.operator.path.includes(csv))
}

type Hop = KeptWay['hops'][number]

/** The hop that is under way is seen without its image. */
const isSame = (kept: Hop, { minor, platform: { version, image } }: Hop): boolean =>
  kept.minor === minor &&
  kept.platform.version === version &&
  (image === undefined || image === kept.platform.image)

const keyOf = (name: string, at: number): string => `${name}/way/${at}`

/** Beside what was kept before: a value that is kept is never overwritten, and the last one counts. */
export async function keepWay(journal: Journal, name: string, way: KeptWay): Promise<void> {
  let at = 0
  while ((await journal.kept(keyOf(name, at))) !== undefined) at++
  await journal.keep(keyOf(name, at), way)
}

/** The last that was kept. */
export async function keptWay(journal: JournalReader, name: string): Promise<KeptWay | undefined> {
  let last: KeptWay | undefined
  for (let at = 0; ; at++) {
    const found = await journal.kept(keyOf(name, at))
    if (found === undefined) return last
    if (isWay(found)) last = found
  }
}

function isWay(found: unknown): found is KeptWay {
  if (!isFields(found) || !Array.isArray(found['hops'])) return false
  const { operator } = found
  return isFields(operator) && Array.isArray(operator['path'])
}
