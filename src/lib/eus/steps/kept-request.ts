import { isDeepStrictEqual } from 'node:util'
import { isFields } from '../../cluster/apply/field-path.ts'
import type { ClusterVersion } from '../../cluster/kinds/openshift.ts'
import type { ArmedUpdate } from '../../facts/openshift/armed-update.ts'
import type { PlatformStanding } from '../../facts/openshift/platform-standing.ts'
import type { JournalReader } from '../../procedure/journal.ts'
import { loanNamed } from '../loans/find-borrowed.ts'

/** What the ClusterVersion is asked for by kvup. */
export interface Request {
  version: string
  image?: string
}

/**
 * The armed update, if the procedure of this name has borrowed desiredUpdate for it, and it reads exactly as it was written then: only that is ever taken back (night
 * E6). What was taken back and is asked for again is somebody else's.
 */
export async function ourRequest(
  journal: Pick<JournalReader, 'loans'>,
  name: string,
  { cv, standing: { armed } }: { cv: ClusterVersion; standing: Pick<PlatformStanding, 'armed'> },
): Promise<Request | undefined> {
  if (armed?.version === undefined) return undefined
  const loan = loanNamed(await journal.loans(), 'desired-update')
  if (loan?.procedure !== name || loan.taken === undefined) return undefined
  const [written, now] = [said(loan.taken.value), said(cv.spec?.desiredUpdate)]
  if (!isDeepStrictEqual(written, now)) return undefined
  return { version: armed.version, ...(armed.image !== undefined && { image: armed.image }) }
}

/** Clients write fields that say nothing as well: `force: false`, an empty architecture. */
function said(update: unknown): Readonly<Record<string, unknown>> {
  const fields = isFields(update) ? Object.entries(update) : []
  return Object.fromEntries(fields.filter(([, value]) => value !== false && value !== '' && value !== null))
}

/** Of an armed update that is not ours: nothing of kvup takes it back. */
export const armedByOthersText = ({ version, image }: ArmedUpdate): string =>
  `somebody else asked the platform for ${version ?? image}, and it has not begun: it starts by itself, and stays requested; oc adm upgrade --clear takes it back`
