import { isFields } from '../../cluster/apply/field-path.ts'
import type { ArmedUpdate } from '../../facts/openshift/armed-update.ts'
import type { Journal, JournalReader } from '../../procedure/journal.ts'

/** What kvup asked the ClusterVersion for, exactly as it was written: only that is ever taken back (night E6). */
export interface Request {
  version: string
  image?: string
}

const key = (name: string, version: string): string => `${name}/request/${version}`

/** The armed update, if it is exactly what the procedure of this name has written. */
export async function ourRequest(
  journal: JournalReader,
  name: string,
  armed: ArmedUpdate | undefined,
): Promise<Request | undefined> {
  if (armed?.version === undefined) return undefined
  const found = await journal.kept(key(name, armed.version))
  if (!isFields(found) || found['image'] !== armed.image) return undefined
  return { version: armed.version, ...(armed.image !== undefined && { image: armed.image }) }
}

export const keepRequest = (journal: Journal, name: string, request: Request): Promise<void> =>
  journal.keep(key(name, request.version), request)
