import { type Deployment, Deployments } from '../../cluster/kinds/apps.ts'
import { ClusterRoleBindings, ClusterRoles } from '../../cluster/kinds/extension.ts'
import {
  type ClusterServiceVersion,
  ClusterServiceVersions,
  OperatorConditions,
} from '../../cluster/kinds/operator-lifecycle.ts'
import type { Container } from '../../cluster/kinds/pods.ts'
import type { KubeObject } from '../../cluster/object.ts'
import { templateHash } from '../machinery/luck.ts'
import type { CarriedDeployment } from './bundle-deployments.ts'
import { ownedLabels } from './bundle-objects.ts'
import { carriedBy } from './csv-look.ts'
import type { OlmContext } from './olm-context.ts'

const hashLabel = 'olm.deployment-spec-hash'

/** Makes the Deployments of a CSV, or makes those its own that are there under their names; each is told the name of its OperatorCondition. */
export async function installCsv({ reader, writer }: OlmContext, csv: ClusterServiceVersion): Promise<void> {
  for (const carried of carriedBy(csv)) {
    const wanted = deploymentOf(csv, carried)
    const { metadata, spec } = wanted
    const found = await reader.find(Deployments, metadata)
    if (found.is !== 'object') await writer.create(Deployments, wanted)
    else if (found.object.metadata.labels?.[hashLabel] !== metadata.labels?.[hashLabel])
      await writer.jsonPatch(Deployments, metadata, [
        { op: 'replace', path: '/spec', value: spec },
        { op: 'add', path: '/metadata/labels', value: metadata.labels },
        { op: 'add', path: '/metadata/ownerReferences', value: metadata.ownerReferences },
      ])
  }
}

function deploymentOf(csv: ClusterServiceVersion, { name, label, spec }: CarriedDeployment): Deployment {
  const { name: owner, namespace } = csv.metadata
  const told = { name: 'OPERATOR_CONDITION_NAME', value: owner }
  const { template = {} } = spec
  const containers = (template.spec?.containers ?? []).map((container) => telling(container, told))
  const annotations = { ...template.metadata?.annotations, 'olm.targetNamespaces': '' }
  const own = {
    ...spec,
    template: {
      metadata: { ...template.metadata, annotations },
      spec: { ...template.spec, containers },
    },
  }
  return {
    apiVersion: Deployments.apiVersion,
    kind: Deployments.kind,
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      labels: { ...label, ...ownedLabels(csv), [hashLabel]: templateHash({ owner, own }) },
      ownerReferences: [ownedBy(csv)],
    },
    spec: own,
  }
}

function telling(container: Container, told: { name: string; value: string }): Container {
  return { ...container, env: [...(container.env ?? []), told] }
}

/** Of no controller: an object may belong to two CSVs while one replaces the other. */
export function ownedBy({ metadata }: KubeObject): {
  apiVersion: string
  kind: string
  name: string
  uid: string
  controller: boolean
} {
  const { apiVersion, kind } = ClusterServiceVersions
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? '', controller: false }
}

/** Takes a CSV away with what only it had: its roles and its OperatorCondition. */
export async function removeCsv({ reader, writer }: OlmContext, csv: ClusterServiceVersion): Promise<void> {
  const { name, namespace } = csv.metadata
  for (const kind of [ClusterRoles, ClusterRoleBindings])
    for (const { metadata } of await reader.list(kind, { labels: `olm.owner=${name}` }))
      await writer.delete(kind, metadata)
  const told = await reader.find(OperatorConditions, { name, namespace })
  if (told.is === 'object') await writer.delete(OperatorConditions, told.object.metadata)
  await writer.delete(ClusterServiceVersions, csv.metadata)
}
