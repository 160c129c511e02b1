import { testPair } from '../pair.ts'

testPair({
  from: 'v1.5.2',
  to: 'v1.6.0',
  by: 'operator-manifest',
  accept: ['issue-15373'],
  kills: 5,
})
