import type { Check } from './check.ts'
import { cdiBeside } from './installation/cdi-beside.ts'
import { crdStoredVersions } from './installation/crd-stored-versions.ts'
import { customizeComponents } from './installation/customize-components.ts'
import { defaultsThatShift } from './installation/defaults-that-shift.ts'
import { foreignEdits } from './installation/foreign-edits.ts'
import { imagesPullable } from './installation/images-pullable.ts'
import { imagesPinned } from './installation/images-pinned.ts'
import { lastAppliedSize } from './installation/last-applied-size.ts'
import { manager } from './installation/manager.ts'
import { methodsEmpty } from './installation/methods-empty.ts'
import { mixedIdentifiers } from './installation/mixed-identifiers.ts'
import { oneKubeVirt } from './installation/one-kubevirt.ts'
import { operatorNotOlder } from './installation/operator.ts'
import { settledNow } from './installation/settled-now.ts'

/** Whether what is installed can be upgraded as it is. */
export const installationChecks: readonly Check[] = [
  settledNow,
  oneKubeVirt,
  mixedIdentifiers,
  manager,
  operatorNotOlder,
  imagesPinned,
  imagesPullable,
  customizeComponents,
  crdStoredVersions,
  lastAppliedSize,
  foreignEdits,
  defaultsThatShift,
  methodsEmpty,
  cdiBeside,
]
