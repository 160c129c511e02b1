/** A field that was set, as a sentence of the journal or of an event tells it. */
export interface ChangedField {
  field: string
  /** Absent where the sentence does not say. */
  object?: string
  /** Absent where it is not said. */
  was?: string
  is: string
  /** It was changed for a time before, and gets its old value. */
  isBack: boolean
  /** The old value is kept, to be restored. */
  isSaved: boolean
}

const object = String.raw`(?<object>(?:\S+ )?\S+(?: in namespace \S+)?)`
/** `set imageTag of kubevirts/kubevirt in namespace kubevirt from v1.7.4 to v1.8.4, and save the value` */
const fromTo = new RegExp(
  String.raw`^set (?<field>\S+) of ${object} from (?<was>.+?) to (?<is>.+?)(?<saved>, and save the value)?$`,
  'u',
)
/** `set spec.paused of MachineConfigPool gpu: true; it was false` */
const itWas = new RegExp(String.raw`^set (?<field>\S+) of ${object}: (?<is>.+?); it was (?<was>.+)$`, 'u')
/** `set workloadUpdateMethods back to LiveMigrate` */
const backTo = new RegExp(String.raw`^set (?<field>\S+)(?: of ${object})? back to (?<is>.+)$`, 'u')

/** Undefined for a sentence that tells of no field. Runs in the browser too. */
export function changedField(text: string): ChangedField | undefined {
  const back = backTo.exec(text)?.groups
  const { field, object: of, was, is, saved } = back ?? (fromTo.exec(text) ?? itWas.exec(text))?.groups ?? {}
  if (field === undefined || is === undefined) return undefined
  return {
    field,
    ...(of !== undefined && { object: of }),
    ...(was !== undefined && { was }),
    is,
    isBack: back !== undefined,
    isSaved: saved !== undefined,
  }
}

/** The second one restores what the first one changed. */
export const restores = (back: ChangedField, change: ChangedField): boolean =>
  back.isBack &&
  !change.isBack &&
  back.field === change.field &&
  (back.object === undefined || back.object === change.object)

/** As a diff: of whose field, and the lines with a sign. */
export const fieldDiff = ({ field, object: of, was, is }: ChangedField): readonly string[] => [
  ...(of === undefined ? [] : [`  ${of}`]),
  ...(was === undefined ? [] : [`- ${field}: ${was}`]),
  `+ ${field}: ${is}`,
]
