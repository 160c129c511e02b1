import { type LabelTest, parseLabels } from '../../cluster/label-selector.ts'
import { badRequest } from './refusal.ts'

/** kubectl's whole grammar. Throws 400 on anything else. */
export function labelTest(selector: string | undefined): LabelTest {
  return parseLabels(selector, badRequest)
}
