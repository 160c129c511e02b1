import type { KubeObject } from '../../cluster/object.ts'
import { jsonPatch } from './json-patch.ts'
import { isJson } from './json.ts'
import { mergePatch } from './merge-patch.ts'
import { badRequest, unsupportedBody } from './refusal.ts'
import type { SimKind } from './sim-kind.ts'
import { strategicPatch } from './strategic-patch.ts'

export type Patch =
  | { readonly type: 'merge' | 'json' | 'strategic'; readonly body: unknown }
  | { readonly type: 'apply'; readonly body: KubeObject; readonly force: boolean }

export type PatchTypeName = Patch['type']

/** By content type. */
export const patchTypes: Readonly<Record<string, PatchTypeName>> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
}

/** The object with the patch on it. Throws 415 for a strategic merge of a custom kind. */
export function patched(
  kind: SimKind,
  object: KubeObject,
  patch: Patch & { type: 'merge' | 'json' | 'strategic' },
): KubeObject {
  if (patch.type === 'json') return jsonPatch(object, patch.body) as KubeObject
  if (!isJson(patch.body))
    throw badRequest('json: cannot unmarshal array into Go value of type map[string]interface {}')
  if (patch.type === 'merge') return mergePatch(object, patch.body) as KubeObject
  if (!kind.builtIn) throw unsupportedBody(Object.keys(patchTypes).filter((t) => !t.includes('strategic')))
  return strategicPatch(object, patch.body) as KubeObject
}
