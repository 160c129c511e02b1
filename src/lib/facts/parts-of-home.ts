import type { Reader } from '../cluster/cluster.ts'
import { EndpointSlices } from '../cluster/kinds/endpoint-slices.ts'
import type { Evidence, EvidencePart } from './evidence.ts'
import { webhooksInto } from './health/answers.ts'
import { itemsOf, known } from './known.ts'
import { rolesOf } from './operator-roles.ts'
import { readyEndpoints } from './ready-endpoints.ts'
import type { Snapshot } from './snapshot.ts'

type Parts = Partial<Evidence>
type HomePart = 'webhooks' | 'endpoints' | 'operatorRoles'

/** The parts of Evidence around KubeVirt's own namespace. Throws ApiError. */
export async function partsOfHome(
  reader: Reader,
  wants: ReadonlySet<EvidencePart>,
  { home, snapshot }: { home: string; snapshot: Promise<Snapshot> },
): Promise<Parts> {
  const part = async <T>(name: HomePart, read: () => Promise<readonly T[]>): Promise<Parts> =>
    wants.has(name) ? { [name]: await known(read()) } : {}
  const found = await Promise.all([
    part('webhooks', async () => webhooksInto(reader, home)),
    part('endpoints', async () => readyEndpoints(await reader.list(EndpointSlices, { namespace: home }))),
    part('operatorRoles', async () =>
      rolesOf(reader, { name: accountOf(await snapshot, home), namespace: home }),
    ),
  ])
  return Object.fromEntries(found.flatMap((one) => Object.entries(one)))
}

/** Why they are not known where there is no such namespace. */
export function homelessParts(wants: ReadonlySet<EvidencePart>, why: string): Parts {
  const parts: readonly HomePart[] = ['webhooks', 'endpoints', 'operatorRoles']
  return Object.fromEntries(
    parts.filter((name) => wants.has(name)).map((name) => [name, { known: false, why }]),
  )
}

/** The name that every release's manifest gives it, where the Deployment cannot be seen. */
function accountOf(snapshot: Snapshot, home: string): string {
  const deployment = itemsOf(snapshot.operators).find(({ metadata }) => metadata.namespace === home)
  return deployment?.spec?.template?.spec?.serviceAccountName ?? 'kubevirt-operator'
}
