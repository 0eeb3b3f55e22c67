// Hardhat as a node and nothing else: no contract is built with it, so it fetches no compiler.
const { DEV_CHAIN_ID, DEV_MNEMONIC, DEV_ACCOUNTS } = process.env;

module.exports = {
  networks: {
    hardhat: {
      chainId: Number(DEV_CHAIN_ID),
      accounts: { mnemonic: DEV_MNEMONIC, count: Number(DEV_ACCOUNTS) },
      // As everywhere else, a transaction that fails is mined, and its receipt says so.
      throwOnTransactionFailures: false,
      loggingEnabled: false,
    },
  },
};
