/** What to say of each problem's `code` (docs/api/README.md); the server's `detail` for others. */
export const errors = {
  offline: "The server can’t be reached. Check your connection; nothing was lost.",
  unknown: "Something went wrong on our side. Try again in a moment.",
  byCode: {
    not_authenticated: "You are signed out. Connect your wallet again.",
    login_failed: "The signature was not accepted. Connect again, and sign the new message.",
    forbidden: "This wallet may not do that here.",
    wallet_frozen: "This wallet is frozen. Ask the operator.",
    csrf_failed: "This page is out of date. Reload it and try again.",
    not_found: "That does not exist, or it isn’t yours to see.",
    insufficient_credits: "You don’t have enough credits. Deposit some, or choose a lower stake.",
    match_not_open: "Somebody was faster: this match has started or was called off.",
    match_not_running: "This match is over.",
    own_match: "This is your own match; the other seat is for somebody else.",
    too_many_matches: "You have too many matches at once. End or cancel one first.",
    throttled: "That was a bit much at once. Wait a moment and try again.",
    try_again: "The server is busy. Nothing has happened; try again.",
    withdrawals_closed: "Withdrawals are closed at the moment. Try later.",
    too_late_to_cancel: "It is too late to cancel: the voucher is signed. Redeem it instead.",
  } as Record<string, string>,
};
