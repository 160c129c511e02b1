import { readFileSync } from 'node:fs'
import type { Deployment } from '../../../src/lib/kube/kinds/workload-kinds.ts'
import type { KubeObject, ManagedField } from '../../../src/lib/kube/object.ts'
import { type Manifest, operatorManifest, parseManifest } from '../../../src/lib/manifests/manifest.ts'

export const exampleFile = new URL('fixture/kubevirt-operator.yaml', import.meta.url).pathname
export const exampleText = readFileSync(exampleFile, 'utf8')

/** The stand-in for the operator manifest of v1.8.4, changed text first. */
export function example(change: (text: string) => string = (text) => text): Manifest {
  return operatorManifest(parseManifest(change(exampleText), 'example.yaml'), 'example.yaml')
}

export function objectIn(manifest: Manifest, kind: string): KubeObject {
  const found = manifest.objects.find((object) => object.kind === kind)
  if (found === undefined) throw new Error(`no ${kind} in the example`)
  return found
}

/** The operator Deployment as a server would return it: defaults filled in, and owned by somebody. */
export function liveOperator(
  managedFields: ManagedField[],
  change?: (live: Deployment) => unknown,
): Deployment {
  const live = structuredClone(example().operator)
  live.metadata = { ...live.metadata, uid: 'u-1', resourceVersion: '7', generation: 1, managedFields }
  Object.assign(live.spec ?? {}, { progressDeadlineSeconds: 600, revisionHistoryLimit: 10 })
  Object.assign(container(live), { imagePullPolicy: 'IfNotPresent' })
  Object.assign(live, { status: { replicas: 2 } })
  change?.(live)
  return live
}

export function container(deployment: Deployment) {
  const first = deployment.spec?.template?.spec?.containers?.[0]
  if (first === undefined) throw new Error('no container')
  return first
}

/** managedFields of a manager that owns the operator's image and one variable that no manifest has. */
export function owner(manager: string, operation: 'Apply' | 'Update'): ManagedField {
  const env = { 'k:{"name":"OLD"}': { '.': {}, 'f:name': {}, 'f:value': {} } }
  const containers = { 'k:{"name":"virt-operator"}': { 'f:image': {}, 'f:env': env } }
  return {
    manager,
    operation,
    apiVersion: 'apps/v1',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:spec': { 'f:template': { 'f:spec': { 'f:containers': containers } } } },
  }
}
