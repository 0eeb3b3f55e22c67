// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Address} from "@openzeppelin/contracts/utils/Address.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";

/// @title Block Ape Scissors vault
/// @notice Takes deposits that buy credits, in the chain's native coin or in allowed ERC-20 tokens
/// (ERC-20, https://eips.ethereum.org/EIPS/eip-20), and pays credits out again against vouchers of
/// EIP-712 typed data (https://eips.ethereum.org/EIPS/eip-712) that the backend signs.
/// @dev Credits themselves live in the backend's ledger, which reads {Deposited} and {Withdrawn}.
/// Value leaves only through {withdraw}: there is no sweep and no upgrade. Errors of the OpenZeppelin
/// parents (`EnforcedPause`, `OwnableUnauthorizedAccount`, ...) are part of the ABI too.
contract BasVault is Ownable2Step, Pausable, ReentrancyGuardTransient, EIP712 {
    using SafeERC20 for IERC20;

    /// @notice Stands for the native coin wherever a token is named.
    address public constant NATIVE = address(0);

    /// @notice EIP-712 type hash of a withdrawal voucher.
    bytes32 public constant WITHDRAW_TYPEHASH =
        keccak256("Withdraw(address player,address token,uint256 amount,uint256 id,uint256 deadline)");

    /// @notice The address whose signature makes a voucher good; zero means that none is.
    address public signer;

    /// @notice How many deposits there have been, which is also the id of the latest one.
    uint256 public depositCount;

    /// @notice What one credit costs in the token's smallest unit; zero if it never had a price.
    mapping(address token => uint256) public creditPrice;

    /// @notice Whether deposits of the token are taken.
    mapping(address token => bool) public isAllowed;

    /// @notice The most that may leave in one UTC day; zero, the default, means nothing.
    mapping(address token => uint256) public dailyLimit;

    /// @notice What has left on a UTC day, counted in days since 1970-01-01.
    mapping(address token => mapping(uint256 day => uint256)) public withdrawnOn;

    /// @notice Whether the voucher of this id has been redeemed.
    mapping(uint256 id => bool) public isUsed;

    /// @notice `amount` arrived from `player`. Ids count from 1 without gaps.
    event Deposited(address indexed player, address indexed token, uint256 amount, uint256 indexed id);

    /// @notice `amount` left for `player` against voucher `id`.
    event Withdrawn(address indexed player, address indexed token, uint256 amount, uint256 indexed id);

    /// @notice Deposits of `token` are taken from now on.
    event TokenAllowed(address indexed token, uint256 creditPrice);

    /// @notice Deposits of `token` are refused from now on.
    event TokenDisallowed(address indexed token);

    /// @notice Vouchers must be signed by `signer` from now on; older ones of another signer are void.
    event SignerChanged(address indexed previousSigner, address indexed signer);

    /// @notice At most `limit` of `token` may leave in one UTC day from now on.
    event DailyLimitChanged(address indexed token, uint256 limit);

    /// @notice Nothing arrived.
    error NothingDeposited();

    /// @notice What arrived doesn't buy a whole number of credits.
    error NotWholeCredits(uint256 amount, uint256 creditPrice);

    /// @notice Deposits of this token aren't taken.
    error TokenNotAllowed(address token);

    /// @notice There is no contract at this address.
    error TokenHasNoCode(address token);

    /// @notice A credit can't be free.
    error ZeroCreditPrice();

    /// @notice The token has a price already, and it never changes.
    error CreditPriceIsFixed(address token, uint256 creditPrice);

    /// @notice The voucher's deadline has passed.
    error VoucherExpired(uint256 deadline);

    /// @notice The voucher has been redeemed already.
    error VoucherUsed(uint256 id);

    /// @notice The signature over these fields, this vault and this chain isn't the signer's.
    error WrongSigner(address recovered);

    /// @notice Only `left` of the token may still leave today.
    error DailyLimitExceeded(address token, uint256 amount, uint256 left);

    /// @notice Without an owner a paused vault would keep everything for ever.
    error OwnershipIsNeeded();

    /// @param initialOwner may pause, allow tokens, set the signer and the daily limits
    /// @param initialSigner signs withdrawal vouchers; zero until there is one
    /// @param nativeCreditPrice what a credit costs in wei, for ever
    constructor(address initialOwner, address initialSigner, uint256 nativeCreditPrice)
        Ownable(initialOwner)
        EIP712("BasVault", "1")
    {
        signer = initialSigner;
        emit SignerChanged(address(0), initialSigner);
        _allow(NATIVE, nativeCreditPrice);
    }

    /// @notice A plain transfer of the native coin is a deposit of its sender.
    /// @dev Needs more gas than the 2,300 of Solidity's `transfer` and `send`.
    receive() external payable {
        deposit();
    }

    /// @notice Deposits the native coin that is sent along, for the caller.
    function deposit() public payable nonReentrant whenNotPaused {
        if (!isAllowed[NATIVE]) revert TokenNotAllowed(NATIVE);
        _credit(NATIVE, msg.value);
    }

    /// @notice Deposits an allowed ERC-20 that the caller has approved to this vault.
    /// @dev Counts what arrived, which a token with a fee on transfer makes less than `amount`.
    /// @param token the ERC-20
    /// @param amount how much to take from the caller, in the token's smallest unit
    function depositToken(address token, uint256 amount) external nonReentrant whenNotPaused {
        if (token == NATIVE || !isAllowed[token]) revert TokenNotAllowed(token);
        uint256 balanceBefore = IERC20(token).balanceOf(address(this));
        IERC20(token).safeTransferFrom(msg.sender, address(this), amount);
        uint256 balanceAfter = IERC20(token).balanceOf(address(this));
        _credit(token, balanceAfter > balanceBefore ? balanceAfter - balanceBefore : 0);
    }

    /// @notice Redeems a withdrawal voucher. Anyone may relay it; it pays only `player`.
    /// @dev EIP-712 voucher; the signature is 65 bytes `r || s || v` with a low `s` (EIP-2). A receiver
    /// that is a contract gets all gas left, and its refusal undoes the redemption.
    /// @param player who is paid
    /// @param token the ERC-20, or {NATIVE}
    /// @param amount how much leaves the vault, in the token's smallest unit
    /// @param id the voucher's own number, good for one redemption
    /// @param deadline the last block timestamp at which the voucher is good
    /// @param signature the {signer}'s, over the voucher's {voucherDigest}
    function withdraw(
        address player,
        address token,
        uint256 amount,
        uint256 id,
        uint256 deadline,
        bytes calldata signature
    ) external nonReentrant whenNotPaused {
        if (block.timestamp > deadline) revert VoucherExpired(deadline);
        address recovered = ECDSA.recoverCalldata(voucherDigest(player, token, amount, id, deadline), signature);
        if (recovered != signer) revert WrongSigner(recovered);
        if (isUsed[id]) revert VoucherUsed(id);
        uint256 day = block.timestamp / 1 days;
        uint256 spent = withdrawnOn[token][day];
        uint256 limit = dailyLimit[token];
        // The owner may have lowered the limit below what has left today.
        uint256 left = limit > spent ? limit - spent : 0;
        if (amount > left) revert DailyLimitExceeded(token, amount, left);

        isUsed[id] = true;
        withdrawnOn[token][day] = spent + amount;
        emit Withdrawn(player, token, amount, id);

        if (token == NATIVE) {
            Address.sendValue(payable(player), amount);
        } else {
            IERC20(token).safeTransfer(player, amount);
        }
    }

    /// @notice The EIP-712 digest that the {signer} signs for these fields, this vault and this chain.
    function voucherDigest(address player, address token, uint256 amount, uint256 id, uint256 deadline)
        public
        view
        returns (bytes32)
    {
        return _hashTypedDataV4(keccak256(abi.encode(WITHDRAW_TYPEHASH, player, token, amount, id, deadline)));
    }

    /// @notice Takes deposits of an ERC-20, or takes those of any token again.
    /// @dev The price is fixed by the first call, so that an old deposit can never be worth something else.
    /// @param token the ERC-20, or {NATIVE} to take that again
    /// @param price what one credit costs in the token's smallest unit
    function allowToken(address token, uint256 price) external onlyOwner {
        if (token != NATIVE && token.code.length == 0) revert TokenHasNoCode(token);
        _allow(token, price);
    }

    /// @notice Refuses deposits of a token. Its price stays, and vouchers of it are still paid.
    function disallowToken(address token) external onlyOwner {
        if (!isAllowed[token]) revert TokenNotAllowed(token);
        isAllowed[token] = false;
        emit TokenDisallowed(token);
    }

    /// @notice Changes who signs vouchers; zero voids all of them.
    function setSigner(address newSigner) external onlyOwner {
        emit SignerChanged(signer, newSigner);
        signer = newSigner;
    }

    /// @notice Changes how much of a token may leave in one UTC day, today included.
    function setDailyLimit(address token, uint256 limit) external onlyOwner {
        dailyLimit[token] = limit;
        emit DailyLimitChanged(token, limit);
    }

    /// @notice Stops deposits and withdrawals.
    function pause() external onlyOwner {
        _pause();
    }

    /// @notice Takes deposits and withdrawals again.
    function unpause() external onlyOwner {
        _unpause();
    }

    /// @notice Always refused: hand the vault over with `transferOwnership` and `acceptOwnership`.
    function renounceOwnership() public view override onlyOwner {
        revert OwnershipIsNeeded();
    }

    function _allow(address token, uint256 price) private {
        if (price == 0) revert ZeroCreditPrice();
        uint256 fixedPrice = creditPrice[token];
        if (fixedPrice != 0 && fixedPrice != price) revert CreditPriceIsFixed(token, fixedPrice);
        creditPrice[token] = price;
        isAllowed[token] = true;
        emit TokenAllowed(token, price);
    }

    function _credit(address token, uint256 amount) private {
        if (amount == 0) revert NothingDeposited();
        uint256 price = creditPrice[token];
        if (amount % price != 0) revert NotWholeCredits(amount, price);
        emit Deposited(msg.sender, token, amount, ++depositCount);
    }
}
