import { appKinds } from './kinds/apps.ts'
import { coreKinds } from './kinds/core.ts'
import { extensionKinds } from './kinds/extension.ts'
import { kubevirtKinds } from './kinds/kubevirt.ts'
import type { SimKind } from './sim-kind.ts'

/** A cluster before KubeVirt: its kinds come with their CustomResourceDefinitions. */
export const plainKinds: readonly SimKind[] = [...coreKinds, ...appKinds, ...extensionKinds]

/** With the kinds of KubeVirt that matter here, as if its CustomResourceDefinitions were there. */
export const builtInKinds: readonly SimKind[] = [...plainKinds, ...kubevirtKinds]
